"""The words by which an English question leans on earlier ones."""

from __future__ import annotations

from monitor.assess.conversation.lexicon.leaning_words import LeaningWords, found, listed

_EASY = (
    r"possible|impossible|true|legal|illegal|safe|ok|okay|better|best|good|bad|fine|necessary|required|important|"
    r"worth|"
    r"easy|easier|hard|difficult|normal|common|healthy|dangerous|free|cheaper|likely|called|known|thought|said|"
    r"believed"
)
_TIME = (
    r"(?:year|week|weekend|month|season|time|morning|evening|afternoon|day|night|century|decade|quarter|moment|point)s?"
)

ENGLISH = LeaningWords(
    code="en",
    asking=listed("who whom whose what which when where why how whats whos hows wheres"),
    auxiliary=listed(
        "is are was were am be been do does did don doesn didn isn aren wasn weren can could may might must shall "
        "should will would won wouldn couldn shouldn has have had hasn haven s re ll"
    ),
    function=listed(
        "a an the i you we me us my your our mine yours and or but so if then than as not no nor to too also "
        "only just "
        "even still ever yet already again really very much many more most less least some any all each every both "
        "either neither one ones other others another same such there here now that this these those while because "
        "of up out off down over once t d m ve let lets please yes ok okay"
    ),
    generic=listed(
        "mean means meant tell explain elaborate say said happen happens happened happening work works worked cost "
        "costs long far often old big large tall fast far soon late high sure example examples detail details "
        "information info go goes going get got give know think possible difference reason else further next mention "
        "mentioned come takes take took better best worse cheaper faster easier bigger larger smaller newer older "
        "different anything something everything nothing alternative alternatives option options exactly instead "
        "specific available right wrong true apply applies expensive required necessary included safe allowed"
    ),
    speaker=listed("i you we to ll"),
    pronouns=listed("it they them he him she her his hers theirs"),
    possessives=listed("its their"),
    before=listed(
        "in on at for with without from by during after before under about within until since between via through "
        "against inside outside of to"
    ),
    address=listed("you your yourself"),
    pointing=found(
        rf"\b(?:this|these)\b(?! {_TIME}\b)",
        r"\b(?:is|does|did|was|will|can|could|would|should|has|had) that\b(?! (?:the|a|an|i|you|we)\b)",
        r"\b(?:about|like|after|before|for|of|with|by|from|on|in|to) that(?=\s*(?:[?.!]|$)| (?:case|one|price|"
        r"plan)\b)",
        r"\b(?:do|doing|did|mean|means|use|know) that(?=\s*(?:[?.!]|$))|\bthose(?=\s*(?:[?.!]|$))",
        r"^(?:are|were|do|did|can|will) those\b",
        r"\bthose (?:ones|two|three|things)\b",
    ),
    standing_for=found(
        r"\b(?:the|which|that|each|another) (?:(?:first|second|third|last|other|same|right|new|old|big|small|"
        r"next|best|"
        r"more \w+|most \w+|\w+er|\w+est) )?ones?\b(?! (?:of|that|who|which|hour|day|week|month|year|time)\b)",
        r"\b(?:one|any|some|all|both|each|either|neither|which|none|most|many|much) of (?:them|these|those|it)\b",
        r"\bthe (?:former|latter)(?=\s*(?:[?.!,]|$)| (?:is|was|does|did|has|have|can|one)\b)",
    ),
    setting_aside=found(
        rf"\bit(?:'s)? (?:(?:is|was|be|been|ever|still|really|even|also|always|actually|not|so) ){{0,2}}(?:{_EASY}) "
        r"(?:(?:for|of) (?:\S+ ){1,4})?(?:to|that|if|when|for)\b",
        rf"\b(?:is|was|isn't|wasn't|be) it (?:\w+ ){{0,2}}(?:{_EASY})\b",
        r"\b(?:is|was|isn't|wasn't|be) it (?!going|able|about)(?:\w+ ){0,2}?(?:to|that|how|when)\b",
        r"\b(?:an|my|the|your|our) it\b|\bit (?:seem|seems|thunder|thunders)\b",
        r"\bit (?:really |actually |usually |normally )?(?:take|takes|took|cost|costs|mean|means|make sense|"
        r"makes sense|"
        r"matter|matters|feel|feels|hurt) (?:\S+ ){0,7}?(?:to|that|if|when|before|until|till|for)\b",
        r"\bit (?:rain|rains|raining|snow|snows|snowing|get|gets)(?: (?:dark|cold|hot|late|light))?\b",
        r"\bwhat time is it\b|\bwhat day is it\b|\bis it (?:time|day|night|dark|cold|hot|raining|snowing|that|"
        r"because)\b",
        r"\b(?:who|what|where|when) (?:is|was) it that\b|\bit (?:was|is) (?:\S+ ){1,6}?that\b|\bmake it\b|\bas "
        r"it were\b",
        r"\bit (?:comes|came|boils) (?:down )?to\b|\b(?:who|where|what) am i\b",
        r"^(?:is|was) this the (?:first|last|only)\b",
        r"\bthis is us\b|\b(?:their|its|his|her) own\b|\bthese days\b|\bhere's\b",
        r"\b(?:so|now|given|such|provided|in order|except) that\b",
        r"\b(?:he|she|they) (?:who|that)\b|\bthey (?:say|call|speak)\b|\bhe or she\b|\bhis or her\b|\bhim or her\b",
    ),
    opener=found(
        r"(?:and |so |ok |okay |but )?(?:what|how) about\b",
        r"(?:and|but) then\b",
        r"same (?:question )?(?:for|with|in)\b",
    ),
    joining=found(r"(?:(?:and|or|but|also|only|even|not|then|plus)\b,?|(?:what|who|where|anything|something) else\b)"),
    linking=listed("and or but if when while because so"),
    relative=listed("that which who whose where as than before after"),
    vague=listed("they"),
    whole=found(
        r"(?:ok |okay |so |and |but |please |can you |could you )*(?:tell me more|(?:more|further) (?:details|info|"
        r"information)|why(?: not| so| is that)?|how (?:so|come)|go on|continue|elaborate|really|since when|"
        r"until when|"
        r"(?:for )?how (?:long|much|many|often)|(?:for|by|to|with|from) (?:whom?|what)|for example|such as|like what|"
        r"yes(?: please)?|no|which(?: ones?)?|what do you mean|are you sure|say that again|i don't understand)"
        r"(?: about (?:it|that|this|them))?(?: please)?"
    ),
)
