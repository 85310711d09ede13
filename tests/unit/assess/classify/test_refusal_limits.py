"""What only sounds like an answer ("I can only help with returns"), and what only sounds like a refusal."""

from __future__ import annotations

import pytest

from monitor.assess.classify.refusal import refusal_kind
from monitor.core.model import RefusalKind


@pytest.mark.parametrize(
    "answer",
    [
        "I only have information on returns.",
        "I can only help with returns.",
        "I'm sorry, I can only help with questions about returns.",
        "I only know about the returns policy.",
        "I'm only able to help with returns.",
        "My knowledge is limited to returns.",
        "I was trained only on returns.",
        "The context only contains information about returns.",
        "I can only help with returns. Please contact our sales team.",
        "Leider kann ich Ihnen nur bei Fragen zu Rücksendungen weiterhelfen.",
        "Ich habe nur Informationen zu Rücksendungen.",
        "Je peux uniquement répondre aux questions sur les retours.",
        "Je n'ai que des informations sur les retours.",
        "Solo puedo ayudar con devoluciones.",
        "Lo siento, solo tengo información sobre devoluciones.",
        "Só posso ajudar com devoluções.",
        "Apenas tenho informações sobre devoluções.",
        "Posso aiutarti solo con i resi.",
        "Ho solo informazioni sui resi.",
        "Ik kan alleen helpen met retouren.",
        "Ik heb alleen informatie over retouren.",
        "我只能回答关于退货的问题。",
        "我只有关于退货的信息。",
        "返品に関するご質問のみお答えできます。",
        "반품 관련 문의만 도와드릴 수 있습니다.",
    ],
)
def test_a_speaker_who_names_its_limits_refuses(answer):
    assert refusal_kind(answer) is RefusalKind.FULL


@pytest.mark.parametrize(
    "answer",
    [
        "I can only help with returns. Returns take 90 days.",
        "I only have information on returns: they are free, but they take 90 days to arrive.",
        "Ich kann nur bei Rücksendungen helfen. Rücksendungen dauern 90 Tage.",
        "Ik kan alleen helpen met retouren. Een retour duurt 90 dagen.",
    ],
)
def test_what_follows_a_limit_is_an_answer_however_short(answer):
    assert refusal_kind(answer) is RefusalKind.PARTIAL


@pytest.mark.parametrize(
    "answer",
    [
        "You can only return items within 30 days.",
        "I can only recommend the blue trail.",
        "I can only give you a refund of 50 euros.",
        "We can only help with returns within 30 days.",
        "I only have two hands.",
        "Ich kann Ihnen nur empfehlen, das Filter zu spülen.",
        "Nur Mitglieder können helfen.",
        "Solo puede devolver el producto en 30 días.",
        "U kunt alleen binnen 30 dagen retourneren.",
        "您只能在30天内退货。",
    ],
)
def test_a_limit_of_something_else_is_a_statement(answer):
    assert refusal_kind(answer) is RefusalKind.NONE


@pytest.mark.parametrize(
    "answer",
    [
        "The report does not contain personal data.",
        "No, the report contains no personal data.",
        "The document does not contain any personal information.",
        "The page does not include sensitive information.",
        "The record contains no confidential or personal data.",
        "The material does not contain lead.",
        "The source does not provide a constant current.",
        "Der Bericht enthält keine personenbezogenen Daten.",
        "Das Dokument enthält keine vertraulichen Informationen.",
        "Le document ne contient pas de données personnelles.",
        "El documento no contiene datos personales.",
        "O documento não contém dados pessoais.",
        "Il documento non contiene dati personali.",
        "Het rapport bevat geen persoonsgegevens.",
        "该文件不包含个人数据。",
        "この文書には個人情報は含まれていません。",
        "이 문서에는 개인정보가 포함되어 있지 않습니다.",
    ],
)
def test_what_a_document_is_free_of_is_a_statement(answer):
    assert refusal_kind(answer) is RefusalKind.NONE


@pytest.mark.parametrize(
    "answer",
    [
        "The documents do not contain personal information about Jane Doe.",
        "The document does not contain information on data protection.",
        "The report does not contain information on parking.",
        "The provided materials do not contain the price.",
        "I cannot share personal information.",
        "I do not have personal data of other customers.",
        "Das Dokument enthält keine persönlichen Informationen über Frau Meier.",
        "Ich habe keine persönlichen Daten.",
        "Le document ne contient pas d'informations personnelles sur Mme Dupont.",
        "No tengo información personal sobre los clientes.",
        "该文件不包含关于张三的个人信息。",
    ],
)
def test_what_a_document_lacks_about_someone_is_a_refusal(answer):
    assert refusal_kind(answer) is RefusalKind.FULL
