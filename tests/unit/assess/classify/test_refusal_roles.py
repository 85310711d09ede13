"""Courtesies and hedges in nine languages, and content that opens like one."""

from __future__ import annotations

import pytest

from monitor.assess.classify.refusal import Role, read_answer
from monitor.core.model import RefusalKind

COURTESY = {
    "en": [
        "Hello!",
        "Hi there!",
        "Thank you for your question!",
        "Thanks for reaching out.",
        "Great question!",
        "That's a great question.",
        "Sure!",
        "Certainly!",
        "Of course!",
        "I'm sorry for the confusion.",
        "I apologize for any inconvenience.",
        "I'd be happy to help you with that.",
        "I'm happy to help!",
        "Let me know if you need anything else.",
        "Please let me know if you have any other questions!",
        "Feel free to ask if anything is unclear.",
        "Please don't hesitate to contact us.",
        "If you have any further questions, feel free to ask.",
        "Is there anything else I can help you with?",
        "You're welcome!",
        "Have a great day!",
        "Please contact our support team for further assistance.",
        "Would you like me to explain this in more detail?",
        "Best regards,",
    ],
    "de": [
        "Hallo!",
        "Guten Tag!",
        "Vielen Dank für Ihre Frage!",
        "Gute Frage!",
        "Gerne!",
        "Natürlich!",
        "Entschuldigen Sie die Verwirrung.",
        "Ich helfe Ihnen gerne weiter.",
        "Wenn Sie weitere Fragen haben, stehe ich Ihnen gerne zur Verfügung.",
        "Lassen Sie mich wissen, ob Sie noch etwas brauchen.",
        "Zögern Sie nicht, mich zu fragen.",
        "Kann ich sonst noch etwas für Sie tun?",
        "Mit freundlichen Grüßen",
        "Bitte wenden Sie sich an unseren Kundendienst.",
    ],
    "fr": [
        "Bonjour !",
        "Merci pour votre question.",
        "Bonne question !",
        "Bien sûr !",
        "Avec plaisir !",
        "Je suis désolé pour la confusion.",
        "Toutes mes excuses pour ce malentendu.",
        "N'hésitez pas à me contacter.",
        "Si vous avez d'autres questions, n'hésitez pas à les poser.",
        "Puis-je vous aider pour autre chose ?",
        "Je reste à votre disposition.",
        "Bonne journée !",
        "Cordialement,",
    ],
    "es": [
        "¡Hola!",
        "¡Buenos días!",
        "Gracias por su pregunta.",
        "¡Buena pregunta!",
        "¡Claro!",
        "Por supuesto.",
        "Disculpe la confusión.",
        "Lamento las molestias.",
        "No dude en contactarme si necesita ayuda.",
        "Si tiene más preguntas, estoy aquí para ayudarle.",
        "¿Hay algo más en lo que pueda ayudarle?",
        "Que tenga un buen día.",
        "Un saludo.",
    ],
    "pt": [
        "Olá!",
        "Bom dia!",
        "Obrigado pela sua pergunta.",
        "Boa pergunta!",
        "Claro!",
        "Com certeza!",
        "Desculpe a confusão.",
        "Lamento o incómodo.",
        "Se tiver mais perguntas, estou aqui para ajudar.",
        "Não hesite em contactar-nos.",
        "Posso ajudar com mais alguma coisa?",
        "Tenha um bom dia!",
        "Fique à vontade para perguntar.",
    ],
    "it": [
        "Ciao!",
        "Buongiorno!",
        "Grazie per la domanda.",
        "Ottima domanda!",
        "Certo!",
        "Volentieri!",
        "Mi scuso per il malinteso.",
        "Mi dispiace per la confusione.",
        "Se ha altre domande, sono a sua disposizione.",
        "Non esiti a contattarci.",
        "Posso aiutarla con altro?",
        "Buona giornata!",
        "Cordiali saluti",
    ],
    "zh": [
        "您好！",
        "你好！",
        "感谢您的提问！",
        "好问题！",
        "当然！",
        "好的。",
        "抱歉造成误解。",
        "如果您还有其他问题，请随时告诉我。",
        "很高兴为您服务！",
        "还有什么可以帮您的吗？",
        "请随时联系我们。",
        "祝您生活愉快！",
        "不客气！",
        "謝謝您的提問！",
    ],
    "ja": [
        "こんにちは。",
        "ご質問ありがとうございます。",
        "はい、承知しました。",
        "もちろんです。",
        "ご迷惑をおかけして申し訳ありません。",
        "他にご質問がございましたら、お気軽にお尋ねください。",
        "お役に立てれば幸いです。",
        "何か他にお手伝いできることはありますか？",
        "よろしくお願いいたします。",
        "ご不明な点がございましたらお知らせください。",
    ],
    "ko": [
        "안녕하세요!",
        "질문해 주셔서 감사합니다.",
        "좋은 질문입니다!",
        "물론입니다!",
        "혼란을 드려 죄송합니다.",
        "추가 질문이 있으시면 언제든지 말씀해 주세요.",
        "더 도와드릴 것이 있나요?",
        "도움이 되어 기쁩니다.",
        "좋은 하루 보내세요!",
        "네, 알겠습니다.",
    ],
}
HEDGE = {
    "en": [
        "Please note that this may vary.",
        "I may be wrong.",
        "Based on the documents, here is what I found:",
        "Here is a summary:",
        "I hope this helps!",
        "Please note that this information may change over time.",
        "Results may vary depending on your situation.",
        "It depends on your situation.",
        "As far as I know, this is correct.",
        "To the best of my knowledge, this is accurate.",
        "Please double-check this with an official source.",
        "This is not legal advice.",
        "Keep in mind that individual circumstances may differ.",
        "Based on the information provided:",
        "In summary:",
        "Here are the key points:",
        "It is always best to consult a professional.",
        "That said,",
        "Your mileage may vary.",
        "However, this may not apply in every case.",
    ],
    "de": [
        "Bitte beachten Sie, dass dies variieren kann.",
        "Ich kann mich irren.",
        "Hier ist eine Zusammenfassung:",
        "Ich hoffe, das hilft!",
        "Basierend auf den Dokumenten habe ich Folgendes gefunden:",
        "Alle Angaben ohne Gewähr.",
        "Das hängt von Ihrer Situation ab.",
        "Diese Angaben können sich ändern.",
        "Soweit ich weiß, ist das richtig.",
        "Zusammenfassend:",
    ],
    "fr": [
        "Veuillez noter que cela peut varier.",
        "Je peux me tromper.",
        "Voici un résumé :",
        "J'espère que cela vous aide !",
        "D'après les documents, voici ce que j'ai trouvé :",
        "Ces informations peuvent changer.",
        "Cela dépend de votre situation.",
        "Sauf erreur de ma part.",
        "En résumé :",
    ],
    "es": [
        "Tenga en cuenta que esto puede variar.",
        "Puedo estar equivocado.",
        "Aquí tiene un resumen:",
        "Espero que esto ayude.",
        "Según los documentos, esto es lo que encontré:",
        "Esta información puede cambiar.",
        "Depende de su situación.",
        "En resumen:",
    ],
    "pt": [
        "Tenha em conta que isto pode variar.",
        "Posso estar enganado.",
        "Aqui está um resumo:",
        "Espero que isto ajude.",
        "Com base nos documentos, eis o que encontrei:",
        "Estas informações podem mudar.",
        "Depende da sua situação.",
        "Em resumo:",
    ],
    "it": [
        "Tenga presente che questo può variare.",
        "Potrei sbagliarmi.",
        "Ecco un riassunto:",
        "Spero che questo sia utile.",
        "In base ai documenti, ecco cosa ho trovato:",
        "Queste informazioni possono cambiare.",
        "Dipende dalla sua situazione.",
        "In sintesi:",
    ],
    "zh": [
        "请注意，具体情况可能有所不同。",
        "我可能有误。",
        "以下是总结：",
        "希望这对您有帮助。",
        "根据文档，我找到以下内容：",
        "以上信息仅供参考。",
        "这取决于您的具体情况。",
        "总之，",
        "據我所知。",
    ],
    "ja": [
        "なお、内容は変わることがあります。",
        "間違っている可能性があります。",
        "以下に要約します。",
        "ご参考になれば幸いです。",
        "資料に基づき、以下にまとめます。",
        "状況によって異なります。",
        "まとめ：",
    ],
    "ko": [
        "다만, 상황에 따라 다를 수 있습니다.",
        "제가 틀릴 수도 있습니다.",
        "다음은 요약입니다:",
        "문서를 바탕으로 정리하면 다음과 같습니다:",
        "정확한 내용은 공식 홈페이지에서 확인하시기 바랍니다.",
        "이는 상황에 따라 다릅니다.",
        "요약하면:",
    ],
}
CONTENT = {
    "en": [
        "Sure, the limit is 5 GB.",
        "Thank you letters are sent within two weeks of the donation.",
        "If you have a season ticket, you ride for free.",
        "Please contact support on 0800 123 456.",
        "Please note that the gate closes at noon.",
        "Here is the code to the door: 4711.",
        "It depends on the number of rooms: three rooms need two filters.",
        "This may take up to five minutes.",
        "In summary, the contract ends in May.",
        "Based on the documents, the contract ends in May.",
        "You can contact the driver by pressing the green button.",
        "Note that the battery must be removed first.",
        "The doctor may prescribe a lower dose.",
        "Hello World is the first program in the tutorial.",
        "Have a valid ticket ready when the guard comes.",
        "You are welcome to bring a dog on the ferry.",
        "Of course, winter tyres are compulsory from November.",
        "I hope is the title of her third album.",
        "Great Britain left the union in 2020.",
        "Good morning tea is served at seven.",
        "Please provide a copy of your passport with the form.",
        "Conditions may change the colour of the indicator from green to red.",
    ],
    "de": [
        "Gerne, das Limit beträgt fünf Gigabyte.",
        "Wenn Sie eine Monatskarte haben, fahren Sie kostenlos.",
        "Bitte wenden Sie das Blatt nach zwei Minuten.",
        "Natürliches Gas wird im Keller gespeichert.",
        "Bitte beachten Sie, dass das Tor um zwölf Uhr schließt.",
        "Laut Vertrag endet die Miete im Mai.",
        "Guten Tag sagt man bis zum Abend.",
        "Haben Sie eine Reservierung, steigen Sie vorne ein.",
    ],
    "fr": [
        "Bien sûr, la limite est de cinq gigaoctets.",
        "Si vous avez un abonnement, le trajet est gratuit.",
        "Veuillez noter que la porte ferme à midi.",
        "Selon le contrat, le bail se termine en mai.",
        "Voici le prix : douze euros.",
        "Merci est le titre de son premier album.",
    ],
    "es": [
        "Claro, el límite es de cinco gigas.",
        "Si tiene un abono, el viaje es gratis.",
        "Tenga en cuenta que la puerta cierra a mediodía.",
        "Según el contrato, el alquiler termina en mayo.",
        "Claro de luna es una sonata de Beethoven.",
        "Depende de la presión: con poca presión se abre la válvula.",
    ],
    "pt": [
        "Claro, o limite é de cinco gigas.",
        "Se tiver um passe, a viagem é gratuita.",
        "Tenha em conta que a porta fecha ao meio-dia.",
        "Segundo o contrato, a renda termina em maio.",
        "Claro é o nome da operadora.",
    ],
    "it": [
        "Certo, il limite è di cinque giga.",
        "Se ha un abbonamento, il viaggio è gratuito.",
        "Tenga presente che la porta chiude a mezzogiorno.",
        "Secondo il contratto, l'affitto termina a maggio.",
        "Ecco il prezzo: dodici euro.",
    ],
    "zh": [
        "当然，限额是五个G。",
        "如果您有月票，可以免费乘车。",
        "请注意，大门中午关闭。",
        "根据合同，租约五月到期。",
        "感谢信在两周内寄出。",
        "请提供护照复印件。",
    ],
    "ja": [
        "もちろん、上限は五ギガです。",
        "定期券をお持ちの場合は無料です。",
        "なお、門は正午に閉まります。",
        "契約書によると、賃貸は五月に終わります。",
        "パスポートの写しを提出してください。",
    ],
    "ko": [
        "물론이죠, 한도는 오 기가입니다.",
        "정기권이 있으면 무료로 탈 수 있습니다.",
        "다만, 문은 정오에 닫힙니다.",
        "계약서에 따르면 임대는 오월에 끝납니다.",
        "여권 사본을 제출해 주세요.",
    ],
}


def flat(by_language):
    return [
        pytest.param(text, id=f"{language}-{n}") for language, ts in by_language.items() for n, text in enumerate(ts)
    ]


def roles(answer):
    return [s.role for s in read_answer(answer).sentences]


@pytest.mark.parametrize("text", flat(COURTESY))
def test_a_courtesy_is_told(text):
    assert roles(text) == [Role.COURTESY]


@pytest.mark.parametrize("text", flat(HEDGE))
def test_a_hedge_is_told(text):
    assert roles(text) == [Role.HEDGE]


@pytest.mark.parametrize("text", flat(CONTENT))
def test_content_that_opens_politely_stays_content(text):
    *heads, last = roles(text)
    assert last is Role.CONTENT
    assert set(heads) <= {Role.CONTENT, Role.COURTESY, Role.HEDGE}  # "Here is a summary: …" has a head of its own


def test_an_answer_is_read_sentence_by_sentence():
    content = "The gate closes at noon and opens again at one on working days."
    answer = f"Great question! {content} The guide does not say why. I hope this helps."
    reading = read_answer(answer)
    assert reading.kind is RefusalKind.PARTIAL
    assert [(answer[s.start : s.end], s.role, s.language) for s in reading.sentences] == [
        ("Great question!", Role.COURTESY, "en"),
        (content, Role.CONTENT, None),
        ("The guide does not say why.", Role.REFUSING, "en"),
        ("I hope this helps.", Role.HEDGE, "en"),
    ]
    assert [s.cue and answer[s.cue[0] : s.cue[1]] for s in reading.sentences] == [
        "Great question!",
        None,
        "guide does not say",
        "I hope this helps.",
    ]


@pytest.mark.parametrize("yes", ["Yes.", "No.", "Ja.", "Oui.", "Sí.", "Sim.", "Sì.", "是。", "はい。", "네."])
def test_a_bare_yes_says_nothing_that_could_be_looked_for(yes):
    assert roles(yes) == [Role.COURTESY]
    assert read_answer(yes).kind is RefusalKind.NONE
    assert roles(f"{yes} The gate closes at noon.")[-1] is Role.CONTENT


@pytest.mark.parametrize(
    "text",
    [
        "If you have any questions, call 0800 123 456.",
        "Let me know at help@example.org.",
        "Please note that this may vary by 10 %.",
    ],
)
def test_what_can_be_checked_is_no_courtesy(text):
    assert roles(text) == [Role.CONTENT]


@pytest.mark.parametrize(
    "answer", ["Sorry.", "Je suis désolé.", "Lo siento.", "Es tut mir leid.", "抱歉。", "죄송합니다."]
)
def test_an_apology_and_nothing_else_refuses(answer):
    assert read_answer(answer).kind is RefusalKind.FULL


def test_an_apology_for_a_misunderstanding_alone_does_not_refuse():
    assert read_answer("I'm sorry for the confusion.").kind is RefusalKind.NONE
