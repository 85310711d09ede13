"""Examples of short refusals, to measure closeness to for answers of unclear wording."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

EXAMPLES = (
    "I don't know.",
    "I cannot answer this question.",
    "I don't have any information about that.",
    "The documents do not contain the answer.",
    "This is not mentioned in the text.",
    "I could not find anything about it.",
    "That is outside of what I can help with.",
    "There is not enough information to answer.",
    "The answer is unknown.",
    "It is not clear from the context.",
    "I am not able to help with that request.",
    "No information is available.",
    "Das weiß ich nicht.",
    "Dazu habe ich keine Informationen.",
    "Die Unterlagen sagen dazu nichts.",
    "Das kann ich nicht beantworten.",
    "Je ne sais pas.",
    "Je n'ai pas trouvé d'information à ce sujet.",
    "Les documents n'en parlent pas.",
    "Je ne peux pas répondre à cette question.",
    "No lo sé.",
    "No tengo información sobre eso.",
    "Los documentos no lo mencionan.",
    "No puedo responder a esa pregunta.",
    "Não sei.",
    "Não tenho informações sobre isso.",
    "Os documentos não falam disso.",
    "Não posso responder a essa pergunta.",
    "Non lo so.",
    "Non ho informazioni su questo.",
    "I documenti non ne parlano.",
    "Non posso rispondere a questa domanda.",
    "Ik weet het niet.",
    "Daar heb ik geen informatie over.",
    "De documenten zeggen daar niets over.",
    "Ik kan die vraag niet beantwoorden.",
    "Jag vet inte.",
    "Jag har ingen information om det.",
    "Dokumenten säger inget om det.",
    "Jag kan inte svara på den frågan.",
    "Jeg ved det ikke.",
    "Jeg har ingen oplysninger om det.",
    "Dokumentene sier ingenting om det.",
    "Jeg kan ikke svare på det spørsmålet.",
    "Nie wiem.",
    "Nie mam informacji na ten temat.",
    "Dokumenty nic o tym nie mówią.",
    "Nie mogę odpowiedzieć na to pytanie.",
    "Я не знаю.",
    "У меня нет информации об этом.",
    "В документах об этом не сказано.",
    "Я не могу ответить на этот вопрос.",
    "Bilmiyorum.",
    "Bu konuda bilgim yok.",
    "Belgelerde bundan bahsedilmiyor.",
    "Bu soruyu yanıtlayamıyorum.",
    "我不知道。",
    "资料中没有提到这一点。",
    "我无法回答这个问题。",
    "わかりません。",
    "その情報は資料に記載されていません。",
    "その質問にはお答えできません。",
    "모르겠습니다.",
    "문서에는 그 내용이 없습니다.",
    "그 질문에는 답변드릴 수 없습니다.",
)


def closeness(answers: NDArray[np.float32], examples: NDArray[np.float32]) -> NDArray[np.float32]:
    """The highest cosine of each answer with any example.

    Args:
        answers: (n, d) unit vectors of whole answers.
        examples: (m, d) unit vectors of EXAMPLES by the same model, m > 0.

    Returns:
        (n,) cosines.
    """
    highest: NDArray[np.float32] = (answers @ examples.T).max(axis=1)
    return highest
