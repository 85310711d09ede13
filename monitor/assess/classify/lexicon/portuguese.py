"""Portuguese, as written in Portugal and in Brazil."""

from __future__ import annotations

from monitor.assess.classify.lexicon.wording import Wording, pattern, upto, whole, words

_SOURCE = (
    r"(?:documentos?|documentação|textos?|contextos?|fontes?|passage(?:m|ns)|trechos?|informaç(?:ão|ões)|manual|"
    r"páginas?|artigos?|base de (?:conhecimentos?|dados)|excertos?|parágrafos?|guia|materia(?:l|is)|conteúdo|"
    r"brochura|resultados)"
)
_SAY = (
    r"(?:cont[êé]m|mencion|especifi|indi(?:ca|que)|fornec|diga|diz|dizem|inclu\w+ (?:\w+ ){0,3}(?:informaç|dados|"
    r"detalhes|instruções|menç)|fala|oferec|expli|aparec|trata|respond|cobre|detalh|refere|traz|abord|descrev|"
    r"esclarec|apresent|aponta|revela|dá\b|dão\b|faz|fazem|cita|consta|precisa|informa|há\b|permit)"
)
_INFORMATION = (
    r"(?:informaç(?:ão|ões)|dados|respostas?|menç(?:ão|ões)|detalhes?|indicaç(?:ão|ões)|referências?|conhecimento|"
    r"instruções|pistas?)"
)
_STATED = (
    r"(?:mencionad|especificad|indicad|fornecid|disponíve|detalhad|clar|descrit|referid|incluíd|explicad|conhecid|"
    r"citad|definid|abordad|informad|presente)\w*"
)

PORTUGUESE = Wording(
    code="pt",
    cues=words(
        "não nenhum nenhuma nenhuns fora desconheço impossível nem sem nada desconhecido desconhecida desconhece "
        "incapaz excede insuficiente além ignoro tampouco"
    ),
    limit_cues=words("só apenas somente limita limitado"),
    openers=words(
        "claro com certeza sim olá bom boa obrigado obrigada muito ótima excelente essa é lamento desculpe "
        "desculpa peço sinto as se não avise diga posso há tem precisa deseja quer poderia pode por entre "
        "contacte contate cumprimentos atenciosamente espero esperamos tenha note lembre isso isto esta este "
        "estas estes os a o segundo baseado com base de em aqui resumo para verifique consulte salvo nota "
        "resposta fico estou estarei depende pontos resumindo confirme sempre tomara até que vale seguem eis fique"
    ),
    refusing=pattern(
        r"\bnão (?:te |lhe |o |vos |a )?(?:posso|pude|consigo|consegui|tenho|disponho|sei|saberia|encontrei|"
        r"encontramos|encontro|vejo|conheço|possuo|faço (?:a mínima )?ideia|estou (?:em condições|cert[oa]|apto|"
        r"segur[oa]|autorizad[oa])|sou capaz)\b(?! (?:nenhum |qualquer )?(?:problema|inconveniente))",
        r"\bnão (?:podemos (?:responder|ajudar|dizer)|conseguimos (?:responder|encontrar)|temos (?:\w+ "
        r"){0,2}(?:informaç|dados|resposta)|dispomos de (?:\w+ )?(?:informaç|dados)|sabemos|(?:me |nos )?(?:é|foi|"
        r"será) (?:\w+ )?possível (?:responder|saber|determinar|dizer|encontrar|dar|afirmar))",
        r"\b(?:é|torna-se|foi)(?:-me)? impossível (?:responder|saber|determinar|dizer|dar)\w*|^impossível (?:saber|"
        r"dizer|responder|determinar)\w*|\b(?:sou|fui) incapaz de\b",
        rf"\b{_SOURCE}\b[^.;]{{0,80}}?\bnão (?:\w+ ){{0,2}}?{_SAY}",
        rf"\b{_SOURCE}\b[^.;]{{0,80}}?\bnão (?:está|é|são|estão|foi|fica) (?:\w+ )?{_STATED}",
        r"\bnão (?:se )?(?:há|existe|existem|consta|constam|aparece|menciona|especifica|encontra|fala|faz|diz|"
        rf"indica)\w*\b[^.;]{{0,60}}?(?:{_INFORMATION}|{_SOURCE})",
        rf"\bnão (?:está|é|são|estão|foi|fica|foram|vem) (?:\w+ )?{_STATED}(?:[^.;,]{{0,60}}{_SOURCE}|$|[.!])|^não "
        r"(?:especificad|mencionad|disponíve|indicad|informad)\w*\b[^,:]{0,30}$",
        rf"\bnenhuma? (?:d[oa]s )?(?:\w+ ){{0,2}}(?:{_SOURCE}|{_INFORMATION}|dado)|\bnada (?:n[oa]s?|sobre|a "
        rf"(?:esse|este) respeito|acerca)\b[^.;]{{0,40}}(?:{_SOURCE}|$|[.!])|^sem (?:informaç\w+|dados|resposta)\b",
        r"\bdesconheço\b|\bignoro\b|\bdesconhece-se\b|^desconhecid[oa]\b|^nem ideia\b|\binformação (?:\w+ "
        r"){0,3}não (?:está|se encontra) (?:\w+ )?(?:disponível|n)",
        r"\b(?:fora|além) d[oae] (?:meu|minha|nosso âmbito|âmbito|que (?:posso|sei))|\bnão (?:faz parte|está "
        r"dentro) d[oae]s? (?:meu|minha)|\b(?:excede|ultrapassa) (?:o meu|as minhas|a minha|os meus|meu|minhas)\b",
        r"\bnão (?:fica|está|é) (?:\w+ )?claro\b(?:$|[.!]| (?:se|quem|qual|quando|como|onde|por|n[oa]s?|a partir|o "
        rf"que))|\b{_SOURCE}\b[^.;,]{{0,30}} (?:é omiss[oa]|são omiss[oa]s|é insuficiente|são insuficientes)",
        r"^(?:também )?não o (?:menciona|diz|especifica|indica|refere)m?\b|\b(?:também não|tampouco) (?:o |a "
        r")?(?:menciona|diz|especifica|indica|refere|há)",
    ),
    limit=pattern(
        r"^(?:eu )?(?:(?:só|apenas|somente) (?:posso|consigo) (?:\w+ )?(?:ajudar|responder|auxiliar|informar|fornecer "
        r"informaç)|(?:posso|consigo) "
        r"(?:\w+ )?(?:ajudar|responder|auxiliar|informar)\w*(?:-\w+)? (?:só|apenas|somente)|(?:posso|consigo) "
        r"(?:apenas|somente) (?:ajudar|responder))",
        r"^(?:eu )?(?:(?:só|apenas|somente) (?:tenho|disponho de|temos)|tenho (?:só|apenas|somente)) (?:\w+ "
        r")?(?:informaç\w+|dados|acesso|documentos|"
        r"conhecimentos?)\b|\bmeu conhecimento (?:limita-se|se limita|está limitado|é limitado) (?:a|ao|à|aos|às)\b",
    ),
    fact=pattern(
        r"^(?!.*\b(?:tenho|posso|disponho|possuo|encontro|consigo|temos|podemos)\b).*\b(?:dados|informaç(?:ões|ão)) "
        r"(?:pessoa(?:is|l)|"
        r"confidencia(?:is|l)|sensíve(?:is|l)|privad[oa]s?)\b(?! (?:sobre|de|do|da|dos|das|acerca)\b)",
        r"\bnão (?:deve|devem|deveria|pode|podem|é necessári\w+|precisa|precisam) |\binformaç\w+ (?:a|para|que) "
        r"(?:enviar|preencher|apresentar)|^não foi possível (?!responder|determinar|encontrar|saber)",
        r"^(?:se|quando|enquanto|caso)\b(?:(?!, (?:não posso|não tenho)\b).)*$",
    ),
    courtesy=whole(
        r"(?:claro(?: que sim)?|com certeza|certamente|com (?:todo o |muito )?(?:gosto|prazer)|muito bem|de acordo|"
        r"ok|pois não)(?:[,!.]? (?:aqui|posso|vou)[^.;:]{0,40}(?:ajud\w*|resposta))?",
        r"(?:olá|oi|bom dia|boa (?:tarde|noite))(?: a todos)?|olá,? \w+[,!]|(?:muito )?obrigad[oa](?: (?:por|"
        r"pel[oa]s?|a)[^.;:]{0,80})?",
        r"(?:essa é uma |esta é uma |é uma |que )?(?:muito )?(?:boa|excelente|ótima) pergunta",
        r"(?:lamento|lamentamos|desculpe|desculpa|peço (?:imensa )?desculpas?|sinto muito|as minhas desculpas|"
        r"perdão)(?: (?:muito|pel[oa]s?|por|o|a|qualquer)[^.;:,]{0,70})?",
        r"(?:não hesite em|fique à vontade|se (?:tiver|precisar|quiser|desejar|houver|puder|"
        r"me))[^.;]{0,120}(?:pergunt\w*|ajud\w*|contact\w*|contat\w*|informaç\w*|detalhes|dúvida\w*|diz\w*|saber|"
        r"avis\w*|mais alguma|estou)[^.;]{0,60}|(?:não hesite em|fique à vontade)[^.;]{0,70}",
        r"(?:avise-me|diga-me|me avise|me diga|avise)[^.;]{0,70}|(?:há|tem|precisa|deseja|posso|em que posso|como "
        r"posso|quer)[^.;]{0,60}(?:mais alguma|outra coisa|ajudar\w*|algo mais|outra pergunta|mais "
        r"informaç\w*)[^.;]{0,40}",
        r"(?:poderia|pode|podia)[^.;]{0,110}(?:fornecer|esclarecer|reformular|dar|especificar|partilhar|"
        r"compartilhar|indicar)[^.;]{0,70}|(?:estou|estarei|fico) (?:aqui|à|ao|feliz|contente)[^.;]{0,70}",
        r"(?:por favor,? )?(?:entre em conta[c]?to|contacte|contate|contactar)[^.;]{0,70}(?:apoio|suporte|serviço|"
        r"equipa|equipe|atendimento|conosco|connosco|nós)[^.;]{0,50}",
        r"(?:com os melhores )?cumprimentos|atenciosamente|tenha (?:um|uma) [^.;:]{0,30}|boa sorte|de nada|por "
        r"nada|disponha",
    ),
    hedge=whole(
        r"(?:espero|esperamos|tomara)(?: que)?[^.;:]{0,70}",
        r"(?:por favor,? )?(?:tenha em (?:conta|mente|atenção)|note|lembre-se(?: de)?|observe|vale (?:lembrar|"
        r"notar))(?: também)?,? que [^.;:]{0,60}(?:pode|podem|poderá|variar|mudar|depende)\w*[^.;:]{0,60}",
        r"(?:isso|isto|esta|este|estas|estes|os|as|o|a)(?: \w+){0,4} (?:pode|podem|poderá|poderão) (?:\w+ "
        r")?(?:variar|mudar|diferir|ser (?:diferente\w*|incomplet\w+)|estar (?:desatualizad\w+|"
        r"incomplet\w+))[^.;:]{0,60}|(?:tudo |isso |isto )?depende d[^.;:]{0,50}",
        r"(?:posso|poderei) (?:estar (?:enganad[oa]|errad[oa])|enganar-me)|salvo erro|(?:tanto quanto|até onde|que "
        r"eu) (?:sei|saiba)(?:,? (?:é|está) (?:assim|corret[oa]|certo))?",
        r"(?:isto|isso|esta \w+|este \w+) não (?:constitui|é|substitui)[^.;:]{0,60}(?:aconselhamento|conselho|"
        r"opinião|consulta)[^.;:]{0,40}|(?:isto|este) é (?:apenas |só )?um resumo[^.;:]{0,30}",
        r"(?:sempre |recomenda-se |é recomendável |recomendo )?(?:verifique|verificar|consulte|consultar|confirme|"
        r"confirmar)[^.;:]{0,50}(?:profissional|médico|advogado|especialista|oficia\w*|fontes?|informaç\w*|"
        r"dados)[^.;:]{0,50}",
        r"(?:segundo|com base n|de acordo com|a partir d|baseado n|conforme) ?(?:[oa]s? |estes |meus "
        rf")?{upto(2)}{_SOURCE}(?: \w+)?(?:,? ?(?:aqui|eis|encontrei|isto é o que|isso é o que)[^.;:]{{0,60}})?",
        r"(?:aqui|a seguir|abaixo|eis|seguem|estes são|este é)[^.;]{0,50}(?:resumo|resposta|pontos?|passos?|"
        r"informaç\w*|lista|encontrei|explicação|detalhes|apresento)[^.;:]{0,50}",
        r"(?:em )?(?:resumo|conclusão|síntese|suma)|resumindo|para resumir|resposta|nota|pontos principais",
    ),
    apology=whole(r"(?:lamento|desculpe|desculpa|peço desculpas?|sinto muito|perdão)(?: muito)?"),
    lead=pattern(
        r"[\W_]*(?:lamento|desculpe|desculpa|peço desculpas?|sinto muito|infelizmente|lamentavelmente|no entanto|"
        r"porém|contudo|mas|todavia|portanto|assim|por isso|além disso|e|sim|receio que|temo que|olá|atualmente|de "
        r"momento|sinceramente|que)\b[\W_]*"
    ),
    border=pattern(
        r"[,;:–—-]+ (?:mas|porém|contudo|no entanto|enquanto|embora|todavia|já)\b ?",
        r"; |[–—] | - | mas ",
        r", (?:e|por isso|portanto|pelo que) ",
    ),
    concessive=pattern(r"[\W_]*(?:embora|apesar de|ainda que|enquanto)\b"),
    aside=pattern(
        rf"(?:(?:o|a|os|as|meus|minhas|este|estes) {upto(3)}{_SOURCE}(?: \w+d[oa]s?)? )?(?:\w+ )?(?:apenas|somente|"
        r"só|unicamente)\b",
        r"(?:só|apenas) (?:posso|respondo|consigo)|(?:posso|podemos|respondo) (?:apenas|só|somente)",
        r"(?:por favor|entre em conta|contacte|contate|recomendo|sugiro|aconselho|recomenda-se|consulte|pode "
        r"(?:contactar|contatar|consultar|ligar|perguntar|tentar)|deve (?:consultar|contactar))\b",
        r"se (?:me|puder|tiver|precisar|desejar)\b|(?:a pergunta|pergunta|perguntou)\b|(?:isso|isto) (?:depende|"
        r"pode)\b",
    ),
    report=pattern(
        rf"(?:(?:o|a|os|as|este|estes|esses) {upto(3)}{_SOURCE})(?: \w+d[oa]s?)? (?:\w+ )?(?:menciona|indica|fala|"
        r"diz|explica|descrev|trata|refere|cont|dá\b|dão\b|oferec)"
    ),
)
