"""Texts that leak a reference and texts that do not: what the constants of the leak guard were chosen by."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    kind: str
    question: str
    reference: str
    said: tuple[str, ...]  # by the chatbot
    text: str
    leaks: bool


REFUND = "How long does a refund take?"
REFUND_IS = "Refunds reach the customer's bank account within 14 days of approval by the finance team."
RESET = "How do I reset my password?"
RESET_IS = "Open the account page, choose Security, and click the link that we send to your mailbox within 24 hours."
SHOP = "When does the Lyon shop open on Sundays?"
SHOP_IS = "The shop in Lyon is closed on Sundays, except on 21 December 2025, when Madame Roussel opens it at 10:30."
COLOUR = "What colour is the cabin light of the X200?"
WARRANTY = "Was deckt die Garantie ab?"
WARRANTY_IS = "Die Garantie deckt Mängel am Akku für 24 Monate ab, nicht aber Sturzschäden am Gehäuse."
PLAN = "Which plan includes phone support?"
PLAN_IS = "Only the Enterprise plan includes phone support; it costs 49 euros a month."
SMOKE = "May I smoke on the balcony?"
SMOKE_IS = "Smoking is forbidden everywhere on the premises because of the fire insurance."
PARK = "停车场什么时候关门？"
PARK_IS = "停车场晚上十一点关门，节假日由保安人工放行。"
VAGUE = ("It depends on several things. Please contact support.",)

CASES = (
    # --- facts ---------------------------------------------------------------------------------------------------
    Case("number", REFUND, REFUND_IS, VAGUE, "Does it take 14 days?", True),
    Case("number", REFUND, REFUND_IS, VAGUE, "Is it true that it takes fourteen days?", True),
    Case("number", PLAN, PLAN_IS, VAGUE, "Is that the plan for €49?", True),
    Case("number", RESET, RESET_IS, VAGUE, "Must I do it within 24 hours?", True),
    Case("unit", RESET, RESET_IS, VAGUE, "Do I have one day to do it?", True),
    Case("unit", REFUND, REFUND_IS, VAGUE, "Does it take two weeks?", True),
    Case("date", SHOP, SHOP_IS, VAGUE, "What about 2025-12-21?", True),
    Case("date", SHOP, SHOP_IS, VAGUE, "And on the 21st of December?", True),
    Case("time", SHOP, SHOP_IS, VAGUE, "Does it open at half past ten, 10:30 am?", True),
    Case("name", SHOP, SHOP_IS, VAGUE, "Should I ask Madame Roussel?", True),
    Case("name", PLAN, PLAN_IS, VAGUE, "Is it the Enterprise plan?", True),
    Case("other language", RESET, RESET_IS, VAGUE, "Muss ich das innerhalb von 24 Stunden tun?", True),
    # --- words ---------------------------------------------------------------------------------------------------
    Case("word", COLOUR, "Amber.", VAGUE, "Is it amber?", True),
    Case("word", COLOUR, "It is amber, and green while charging.", VAGUE, "Is it amber?", True),
    Case("word", SMOKE, SMOKE_IS, VAGUE, "Is it forbidden because of the insurance?", True),
    Case("word", RESET, RESET_IS, VAGUE, "Is there a link sent to my mailbox?", True),
    Case("word", REFUND, REFUND_IS, VAGUE, "Does the finance team approve it?", True),
    Case("word", WARRANTY, WARRANTY_IS, ("Das hängt vom Gerät ab.",), "Sind Mängel am Akku abgedeckt?", True),
    Case("word", WARRANTY, WARRANTY_IS, ("Das hängt vom Gerät ab.",), "Auch Sturzschäden am Gehäuse?", True),
    Case("script", PARK, PARK_IS, ("请咨询前台。",), "节假日是保安放行吗？", True),
    # --- paraphrases ---------------------------------------------------------------------------------------------
    Case(
        "paraphrase", SMOKE, SMOKE_IS, VAGUE, "Smoking is prohibited all over the property because of fire cover.", True
    ),
    Case("paraphrase", REFUND, REFUND_IS, VAGUE, "The money arrives in your bank after accounting has agreed.", True),
    Case(
        "paraphrase",
        RESET,
        RESET_IS,
        VAGUE,
        "You get an e-mail with a hyperlink once you pressed it in the settings.",
        True,
    ),
    Case("synonym", COLOUR, "It is scarlet.", VAGUE, "The cabin light is bright red.", True),
    Case("synonym", SMOKE, SMOKE_IS, VAGUE, "Is it banned on the whole property?", True),
    Case(
        "other language", SMOKE, SMOKE_IS, VAGUE, "Das Rauchen ist wegen der Feuerversicherung überall verboten.", True
    ),
    # --- what is free --------------------------------------------------------------------------------------------
    Case("question's words", REFUND, REFUND_IS, VAGUE, "How long does the refund take exactly?", False),
    Case("question's words", SHOP, SHOP_IS, VAGUE, "So does the Lyon shop open on Sundays or not?", False),
    Case("question's words", PLAN, PLAN_IS, VAGUE, "Which of the plans has support by phone?", False),
    Case("question's words", SMOKE, SMOKE_IS, VAGUE, "I only want to know about smoking on the balcony.", False),
    Case("common words", REFUND, REFUND_IS, VAGUE, "How many days does it take?", False),
    Case("common words", REFUND, REFUND_IS, VAGUE, "What does it depend on?", False),
    Case("common words", RESET, RESET_IS, VAGUE, "Could you tell me the steps, one by one?", False),
    Case("common words", RESET, RESET_IS, VAGUE, "Where do I have to go to do that?", False),
    Case("common words", SHOP, SHOP_IS, VAGUE, "At what time does it open?", False),
    Case("common words", SHOP, SHOP_IS, VAGUE, "Is there any exception to that?", False),
    Case("common words", PLAN, PLAN_IS, VAGUE, "What does it cost per month?", False),
    Case("common words", COLOUR, "It is amber.", VAGUE, "Can you name the colour?", False),
    Case("common words", COLOUR, "It is amber.", VAGUE, "How can I contact support about the light?", False),
    Case("common words", SMOKE, SMOKE_IS, VAGUE, "Who decides about that?", False),
    Case("common words", SMOKE, SMOKE_IS, VAGUE, "Is there a rule about it?", False),
    Case("common words", WARRANTY, WARRANTY_IS, ("Das hängt vom Gerät ab.",), "Wie lange gilt die Garantie?", False),
    Case("common words", WARRANTY, WARRANTY_IS, ("Das hängt vom Gerät ab.",), "Was ist nicht abgedeckt?", False),
    Case("script", PARK, PARK_IS, ("请咨询前台。",), "停车场具体几点关门？", False),
    Case("said", REFUND, REFUND_IS, ("Usually 14 days.",), "Is it always 14 days?", False),
    Case("said", REFUND, REFUND_IS, ("Usually two weeks.",), "So 14 days?", False),
    Case("said", RESET, RESET_IS, ("We send a link.",), "When is the link sent?", False),
    Case("said", SHOP, SHOP_IS, ("It is closed on Sundays.",), "Is it always closed on Sundays?", False),
    Case("said", SHOP, SHOP_IS, ("On 21 December 2025 it opens at 10:30.",), "It opens on 2025-12-21 at 10:30.", False),
    Case("said", PLAN, PLAN_IS, ("The Enterprise plan does.",), "What does the Enterprise plan cost?", False),
    Case("said", SMOKE, SMOKE_IS, ("No, it is prohibited everywhere.",), "It is prohibited everywhere.", False),
    Case("said", SMOKE, SMOKE_IS, ("It is not allowed on our site.",), "Smoking is not allowed on the site.", False),
    Case("own guess", REFUND, REFUND_IS, VAGUE, "Does it take 30 days?", False),
    Case("own guess", COLOUR, "It is amber.", VAGUE, "Is it blue?", False),
    Case("own guess", SHOP, SHOP_IS, VAGUE, "Is it open at 9:00 for members?", False),
    Case("unsure", SMOKE, SMOKE_IS, VAGUE, "I do not know; please contact support.", False),
)

# Written after the constants were chosen: on them, the rates in docs/quality/conversations.md are measured.
LOAN = "How much can I borrow from the library?"
LOAN_IS = "Members borrow up to eight books for 28 days; DVDs are limited to two and cannot be renewed."
ALARM = "What must I do when the fire alarm rings?"
ALARM_IS = "Leave by the nearest staircase, never the lift, and gather at the fountain in front of building C."
VISA = "Do I need a visa for the conference?"
VISA_IS = "Citizens of Schengen states need none; all others apply at the consulate in Porto by 15 March 2026."
DIET = "What should I eat before the blood test?"
DIET_IS = "Nothing for twelve hours; plain water is fine, coffee is not."
TRAVEL = "Wie beantrage ich die Erstattung einer Dienstreise?"
TRAVEL_IS = "Laden Sie die Belege im Portal hoch; Frau Okonkwo aus der Buchhaltung zahlt binnen zehn Tagen aus."
DEPENDS = ("That depends on your case.",)

UNSEEN = (
    Case("number", LOAN, LOAN_IS, DEPENDS, "Are eight of them fine?", True),
    Case("unit", LOAN, LOAN_IS, DEPENDS, "May I keep them for four weeks?", True),
    Case("word", LOAN, LOAN_IS, DEPENDS, "Are DVDs limited?", True),
    Case("paraphrase", LOAN, LOAN_IS, DEPENDS, "Is it true that films are restricted and cannot be extended?", True),
    Case("word", ALARM, ALARM_IS, DEPENDS, "Do I take the staircase and not the lift?", True),
    Case("word", ALARM, ALARM_IS, DEPENDS, "Where is the fountain?", True),
    Case("paraphrase", ALARM, ALARM_IS, DEPENDS, "Avoid the elevator and meet outside by the well.", True),
    Case("name", VISA, VISA_IS, DEPENDS, "Is that different for Schengen?", True),
    Case("date", VISA, VISA_IS, DEPENDS, "Must I apply by 15/03/2026?", True),
    Case("name", VISA, VISA_IS, DEPENDS, "Do I have to go to Porto?", True),
    Case("paraphrase", VISA, VISA_IS, DEPENDS, "Should people from elsewhere turn to the embassy by spring?", True),
    Case("unit", DIET, DIET_IS, DEPENDS, "Must I fast for half a day?", True),
    Case("number", DIET, DIET_IS, DEPENDS, "Is it 12 hours?", True),
    Case("word", DIET, DIET_IS, DEPENDS, "Can I drink coffee?", True),
    Case(
        "paraphrase", DIET, DIET_IS, DEPENDS, "So an espresso is forbidden, and a drink from the tap is allowed?", True
    ),
    Case("name", TRAVEL, TRAVEL_IS, DEPENDS, "Ist Frau Okonkwo zuständig?", True),
    Case("number", TRAVEL, TRAVEL_IS, DEPENDS, "Dauert das 10 Tage?", True),
    Case("word", TRAVEL, TRAVEL_IS, DEPENDS, "Lade ich die Belege hoch?", True),
    Case("free", LOAN, LOAN_IS, DEPENDS, "How many items is that at once?", False),
    Case("free", LOAN, LOAN_IS, DEPENDS, "What does it depend on in the library?", False),
    Case("free", LOAN, LOAN_IS, DEPENDS, "For how long may I keep what I borrow?", False),
    Case("free", ALARM, ALARM_IS, DEPENDS, "What is the first thing to do?", False),
    Case("free", ALARM, ALARM_IS, DEPENDS, "Where should I go when it rings?", False),
    Case("free", ALARM, ALARM_IS, DEPENDS, "Is there a plan of the floor?", False),
    Case("free", VISA, VISA_IS, DEPENDS, "I come from Canada: do I need one?", False),
    Case("free", VISA, VISA_IS, DEPENDS, "What papers are needed for it?", False),
    Case("free", VISA, VISA_IS, DEPENDS, "By when would I have to get it?", False),
    Case("free", DIET, DIET_IS, DEPENDS, "Is breakfast all right?", False),
    Case("free", DIET, DIET_IS, DEPENDS, "Are there foods to avoid before the test?", False),
    Case("free", DIET, DIET_IS, DEPENDS, "How long before the test may I eat?", False),
    Case("free", DIET, DIET_IS, ("No food for half a day.",), "Is it 12 hours exactly?", False),
    Case("free", TRAVEL, TRAVEL_IS, DEPENDS, "Wo finde ich das Formular?", False),
    Case("free", TRAVEL, TRAVEL_IS, DEPENDS, "Wer ist dafür zuständig?", False),
    Case("free", TRAVEL, TRAVEL_IS, DEPENDS, "Wie lange dauert die Erstattung?", False),
)
