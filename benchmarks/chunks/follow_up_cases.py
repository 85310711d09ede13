"""Forty conversations written by hand: what was asked before, a last question, and a document that answers it.

In thirty the last question leans on the turns before it, in ten it stands alone. `half` is 0 for those that the method
was chosen on, 1 for those that its figures are reported on.
"""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """A conversation; `leans` is what a reader says of the last question."""

    language: str
    earlier: tuple[str, ...]
    question: str
    document: str
    leans: bool
    half: int


def _cases(*rows: tuple[str, str, str, str], half: int, leans: bool) -> list[Case]:
    return [Case(language, tuple(said.split(" | ")), q, d, leans, half) for language, said, q, d in rows]


CASES = [
    *_cases(
        (
            "en",
            "Which running shoes do you carry for flat feet?",
            "Where can I purchase those?",
            "The Stride Control and the Arch Pro, our running shoes for flat feet, are sold in all our city stores.",
        ),
        (
            "en",
            "Do you offer a student discount on the yearly pass?",
            "And for seniors?",
            "Visitors over 65 pay 30 percent less for the yearly pass; students pay half.",
        ),
        (
            "en",
            "How do I reset the router?",
            "How long does it take?",
            "After a reset the router restarts, which lasts about four minutes. Do not unplug it.",
        ),
        (
            "en",
            "Who founded the Rosenthal foundation? | When was he born?",
            "Where did he study?",
            "Karl Rosenthal, the founder of the foundation, read chemistry at Heidelberg and took his degree in 1911.",
        ),
        (
            "en",
            "What does the premium plan cost?",
            "What about the family plan?",
            "The family plan covers up to five people for 24 dollars a month. The premium plan is 12 dollars.",
        ),
        (
            "en",
            "Can I bring my dog on the ferry?",
            "Why not?",
            "Animals are not taken on the ferry because the deck has no shelter; guide dogs travel free of charge.",
        ),
        (
            "en",
            "What is the warranty on the Kestrel drill?",
            "Does that cover the battery?",
            "The warranty of the Kestrel drill lasts three years. Batteries are covered for twelve months.",
        ),
        (
            "de",
            "Wie beantrage ich Elternzeit?",
            "Und wie lange dauert das?",
            "Der Antrag auf Elternzeit wird in der Regel innerhalb von vier Wochen bearbeitet.",
        ),
        (
            "de",
            "Welche Unterlagen brauche ich für den Personalausweis?",
            "Wo kann ich sie abgeben?",
            "Die Unterlagen für den Personalausweis nimmt das Bürgeramt entgegen, ein Termin ist nötig.",
        ),
        (
            "de",
            "Ist das Freibad im Sommer geöffnet?",
            "Und im Winter?",
            "Das Freibad ist von Mai bis September geöffnet. In den Wintermonaten steht das Hallenbad offen.",
        ),
        (
            "fr",
            "Comment puis-je renouveler mon abonnement ?",
            "Et combien ça coûte ?",
            "Le renouvellement de l'abonnement est facturé 45 euros par an, prélevés à la date d'échéance.",
        ),
        (
            "es",
            "¿Puedo devolver unos zapatos comprados en línea?",
            "¿Y en las tiendas?",
            "Los zapatos comprados en línea se pueden devolver en cualquiera de nuestras tiendas durante treinta días.",
        ),
        (
            "it",
            "Come si prenota una visita guidata al museo?",
            "Quanto costa?",
            "La visita guidata al museo costa dodici euro a persona, otto per i gruppi scolastici.",
        ),
        (
            "zh",
            "年票可以转让给别人吗?",
            "那儿童票呢?",
            "儿童票和年票都不能转让给别人,只能由本人使用。",
        ),
        (
            "ja",
            "図書館の本は何冊まで借りられますか。",
            "それはどこで返せますか。",
            "借りた図書館の本は、館内の窓口か駅前の返却ポストで返せます。",
        ),
        half=0,
        leans=True,
    ),
    *_cases(
        (
            "en",
            "Which of your tents are waterproof?",
            "Do they also withstand strong wind?",
            "The Ridge and Fjord tents are waterproof and have been tested in gusts of up to 90 km/h.",
        ),
        (
            "en",
            "How do I cancel my gym membership?",
            "Is there a fee for this?",
            "Cancelling the gym membership is free after twelve months; before that 30 dollars are charged.",
        ),
        (
            "en",
            "What vaccinations do I need for Kenya?",
            "How much do they cost?",
            "Travel vaccinations for Kenya are priced from 60 dollars for hepatitis A to 150 dollars for yellow fever.",
        ),
        (
            "en",
            "Which bus goes to the airport? | How often does it run?",
            "And on Sundays?",
            "Bus 40 to the airport leaves every ten minutes from Monday to Saturday and every twenty on Sundays.",
        ),
        (
            "en",
            "Who painted the mural in the town hall?",
            "What else did she paint?",
            "Lena Ortiz, who made the mural in the town hall, also painted the ceiling of the opera.",
        ),
        (
            "en",
            "How do I export my photos from the old phone?",
            "Can I do that without a computer?",
            "Photos can be exported from the phone over wi-fi; a computer is not needed if the cloud backup is on.",
        ),
        (
            "en",
            "Is the blue carpet machine washable?",
            "What about the red one?",
            "The red carpet is made of wool and must be dry-cleaned; the blue carpet may go into the washing machine.",
        ),
        (
            "en",
            "When does the evening course in pottery start?",
            "Which materials are included?",
            "The fee of the evening course in pottery includes clay, glazes and firing. Aprons are lent out.",
        ),
        (
            "de",
            "Welche Tarife gibt es für das Jobticket?",
            "Was ist mit Auszubildenden?",
            "Auszubildende fahren mit dem Jobticket zum halben Tarif; ein Nachweis der Ausbildung ist vorzulegen.",
        ),
        (
            "de",
            "Wie melde ich einen Schaden am Mietwagen?",
            "Muss ich dafür anrufen?",
            "Schäden am Mietwagen melden Sie im Kundenkonto oder telefonisch; ein Anruf ist nur bei Unfällen nötig.",
        ),
        (
            "fr",
            "Où se trouve la consigne de la gare ?",
            "Et quand est-elle fermée ?",
            "La consigne de la gare ferme de minuit à cinq heures du matin et le premier janvier.",
        ),
        (
            "es",
            "¿Qué documentos necesito para alquilar un coche?",
            "¿Dónde puedo entregarlos?",
            "Los documentos para alquilar un coche se entregan en el mostrador de la oficina o por correo electrónico.",
        ),
        (
            "pt",
            "Como faço para trocar o filtro da cafeteira?",
            "E com que frequência?",
            "O filtro da cafeteira deve ser trocado a cada dois meses ou depois de cem cafés.",
        ),
        (
            "ko",
            "도서관 회원 카드는 어떻게 만드나요?",
            "그럼 비용은요?",
            "도서관 회원 카드는 무료이며, 분실하면 재발급 비용으로 이천 원을 냅니다.",
        ),
        ("zh", "博物馆几点开门?", "为什么?", "博物馆上午十点开门,因为每天早上要进行安全检查和清洁。"),
        half=1,
        leans=True,
    ),
    *_cases(
        (
            "en",
            "How do I reset the router?",
            "Which ports must be open for the video doorbell?",
            "The video doorbell needs the ports 443 and 8883 to be open for outgoing connections.",
        ),
        (
            "en",
            "What does the premium plan cost?",
            "How long does it take to transfer a domain to another owner?",
            "Transferring a domain to another owner takes five to seven days.",
        ),
        (
            "de",
            "Wie beantrage ich Elternzeit?",
            "Wie viel Urlaub haben Sie im ersten Jahr vorgesehen?",
            "Im ersten Jahr sind 28 Tage Urlaub vorgesehen, ab dem zweiten 30 Tage.",
        ),
        (
            "fr",
            "Où se trouve la consigne de la gare ?",
            "Est-ce que les vélos sont admis dans le train de nuit ?",
            "Les vélos sont admis dans le train de nuit sur réservation, au prix de dix euros.",
        ),
        (
            "ja",
            "図書館の本は何冊まで借りられますか。",
            "自習室は日曜日に使えますか。",
            "自習室は日曜日も午前九時から午後五時まで使えます。",
        ),
        half=0,
        leans=False,
    ),
    *_cases(
        (
            "en",
            "Which bus goes to the airport?",
            "When the museum closes early, do visitors get their money back?",
            "If the museum closes early, visitors get their money back at the desk or by post.",
        ),
        (
            "en",
            "Is the blue carpet machine washable?",
            "Is it possible to rent a sewing machine for a weekend?",
            "Sewing machines can be rented for a weekend at 15 dollars.",
        ),
        (
            "de",
            "Welche Tarife gibt es für das Jobticket?",
            "Gibt es eine Frist für den Widerruf eines Kaufvertrags?",
            "Ein Kaufvertrag kann innerhalb von vierzehn Tagen widerrufen werden.",
        ),
        (
            "es",
            "¿Qué documentos necesito para alquilar un coche?",
            "¿A qué hora abre la piscina municipal este verano?",
            "La piscina municipal abre este verano a las diez de la mañana.",
        ),
        (
            "ko",
            "도서관 회원 카드는 어떻게 만드나요?",
            "수영장 강습은 몇 시에 시작하나요?",
            "수영장 강습은 오전 여섯 시와 오후 일곱 시에 시작합니다.",
        ),
        half=1,
        leans=False,
    ),
]
