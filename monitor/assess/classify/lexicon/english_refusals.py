"""How English refuses: the speaker does not answer, or the documents do not."""

from __future__ import annotations

from monitor.assess.classify.lexicon.wording import pattern, upto

# What an assistant calls the texts that it was given. The second list also names things that users ask about ("the
# guide does not include meals"), so it counts only with a verb of saying or with a word for information.
_TEXT = (
    r"(?:documents?|documentation|docs|contexts?|passages?|texts?|sources?|articles?|excerpts?|paragraphs?|snippets?|"
    r"manuals?|brochures?|faqs?|references|knowledge base|search results?|materials?)"
)
_NAMED = (
    r"(?:guides?|content|information|results?|prompt|records?|handbooks?|sections?|files?|pages?|notes?|leaflets?|"
    r"website|report|study|policy|transcript|guidelines?)"
)
SOURCE = rf"(?:{_TEXT}|{_NAMED})"
_GIVEN = rf"(?:the|these|this|any of the|my|our|your|any|what|available|provided) {upto(3)}{SOURCE}"
_INFORMATION = (
    r"(?:information(?! (?:desk|sheet|point|session|board|booth|cent))|info|mention|details?(?! to (?:fill|enter|"
    r"give))|data(?! (?:cent|plan|limit|cap|loss|charge|transfer|roam))|answers?|indications?|instructions?|"
    r"references?|guidance|explanations?|specifics|figures?|clarification)"
)
# Between a source and its verb: words that belong to the source, but no verb of saying, which has another subject.
_GAP = r"(?: (?!indicat|suggest|state|says?\b|mention|show|notes?\b|explain|summari|report)[\w'()-]+,?){0,8}?"
_ABOUT = rf"{upto(4)}{_INFORMATION}"
_EXACT = r"(?:(?:a|an|any|the) )?(?:specific|exact|clear|definitive|direct|further|precise|particular|explicit)\b"
_DO_NOT = r"(?:(?:do|does|did)(?: not|n't))"
_IS = r"(?:is|are|was|were|'s|'re|be|been)"
_CANNOT = r"(?:cannot|can't|can not|could not|couldn't)"
_LY = r"(?:(?:\w+ly|even|yet|seem to|appear to|actually) ){0,2}"
_ASK = r"(?:what|who|whom|whose|which|how|when|where|why|whether|if)"
_SAY = (
    r"(?:mention|specif|state|say|tell|indicate|explain|clarif|reveal|discuss|describe|address|answer|speak|refer|"
    r"touch|talk|elaborate|name\b|go into|comment|detail|define|identif|confirm|disclose|spell out|make (?:it )?clear|"
    r"suggest)"
)
_HOLD = r"(?:contain|provide|include|cover|give|list|offer|hold|have|supply|present|show|make)"
_STATED = (
    r"(?:specified|mentioned|stated|provided|given|described|covered|included|addressed|available|disclosed|discussed|"
    r"explained|listed|documented|found|indicated|defined|clear|answered|detailed|identified|named|noted|shown|"
    r"determined|referenced|present|contained|outlined|clarified|part|known|recorded|referred to)"
)
_UNCLEAR = r"(?:unclear|unknown|uncertain|unspecified|inconclusive|ambiguous)"
_FIND = rf"(?:(?:find|locate|identify|come across) (?:any\b|anything|that\b|this\b|it\b|{_ABOUT})|see {_ABOUT})"
_REPLY = (
    r"(?:answer|respond|reply|help|assist|say|tell|determine|comment|discuss|confirm|comply|advise|fulfil|look up|"
    r"verify|establish|conclude|speculate|predict|elaborate|speak to|find|locate|identify|generate|access|"
    r"(?:provide|give|offer|share|make) (?!the same)(?:you )?(?:with )?(?:a|an|any|the|that|this|it|personal|specific|"
    r"accurate|more|further|\w*\s?(?:information|details|advice))\b|recommend (?:any|a|specific|which|whether)\b)"
)

# The first letters of every refusal that is not the first thing that a clause says, which spares nine in ten searches.
_FIRST = (
    r"(?:accordi|altho|and\b|are|article|based|beyond|brochure|but\b|can|conte[nx]t|could|doc|excerpt|faq|file|from\b|given|"
    r"guide|handbook|however|i\b|in\b|information|is|it|knowledge|leaflet|manual|material|might|more\b|my\b|ne(?:ither|ver)|"
    r"no(?:\b|ne|t|where)|outside|pa(?:ge|ragraph|ssage)|policy|prompt|re(?:cord|ference|port|sult)|say|search|"
    r"s(?:ection|ince|nippet|ource|tudy)|text|th(?:at|ere|is|ough)|transcript|using|was|we\b|we(?:bsite|re)|while|with|would)"
)
BEGINS = rf"(?:^|(?<!\w)(?={_FIRST})|(?=n't))"  # a refusal begins with such a word, or with the "n't" of "doesn't"

REFUSING = pattern(
    # the speaker
    r"\bi(?:'m| am| was|'ve been)(?: \w+)? (?:unable to|not able to|not in a position to|incapable of|not familiar "
    r"with|not (?:allowed|permitted|authori[sz]ed|qualified|designed|programmed|trained) to)\b|\bi wasn't able to\b",
    rf"\bwe(?:'re| are| were) {_LY}(?:unable|not able) to (?:answer|help|assist|say|tell|determine|respond|confirm|"
    rf"{_FIND})",
    rf"\bi {_LY}{_CANNOT} (?:\w+ ){{0,2}}?{_REPLY}",
    rf"\bwe {_LY}{_CANNOT} (?:\w+ ){{0,2}}?(?:answer|{_FIND}|determine|say|tell|comment|help|assist|discuss|confirm "
    rf"{_ASK})",
    r"\bi (?:must|have to|will have to|need to|would have to) (?:\w+ )?decline\b|\bi(?:'d| would) (?:rather|"
    r"prefer) not\b",
    r"\bi (?:respectfully )?(?:refuse|decline) to\b|\b(?:would|might)(?:'d)? have to ask [^.;]{0,40}$",
    r"^not (?:sure|certain)\b[^,;]{0,20}(?:$|, sorry)|\bi(?:'m| am) not (?:\w+ )?(?:sure|certain)(?:$|[.!]| "
    rf"{_ASK}\b| (?:about|of) (?:that|this|it|the answer)\b)|\bi(?:'m| am) unsure\b",
    rf"\bi (?:(?:do|did)(?: not|n't)) (?:\w+ )?(?:have|possess|hold|receive) {upto(5)}(?:{_INFORMATION}|access|"
    r"documents?|documentation|sources?|material|records?|context|knowledge|clue|idea|that|this|it|anything)\b",
    r"\bi (?:don't|do not)(?: currently)? have (?:that|this|it|access)\b|\bi (?:have(?:n't| not) been|"
    r"was(?:n't| not)) (?:given|provided|able to (?:find|locate|determine|answer))\b",
    rf"\bwe {_DO_NOT} (?:\w+ )?have {upto(3)}(?:information|details|an answer|the answer|data) (?:on|about|for|to|"
    r"in|as)\b",
    rf"\b(?:i|we) {upto(3)}(?:{_DO_NOT}|have not|haven't) (?:\w+ )?(?:{_FIND}|found any|come across|see {_ABOUT})",
    rf"\bi(?: have|'ve| had) (?:absolutely )?no {upto(3)}(?:{_INFORMATION}|records?|documents?|documentation|idea|"
    rf"knowledge|clue|way|access|context)\b|\bwe have no {upto(2)}(?:information|details|data on)\b",
    rf"\b(?:i|we) {upto(6)}(?:found|find|see|have) (?:no {_ABOUT}|nothing (?:on|about|that|in|for|relevant|"
    r"regarding|here)\b)",
    r"\bi (?:really |honestly |simply |just )?(?:do not|don't|wouldn't|would not)(?: \w+ly)? know(?:$|[.,!]| "
    rf"{_ASK}\b(?! i(?:'d| would))| (?:the|that|this|it|about|enough|anything|any|much|for sure|yet)\b)",
    r"\b(?:beyond|outside)(?: of)? (?:what i\b|my\b|the scope of (?:what|my|this|the|these)\b|our (?:scope|remit|"
    r"expertise|knowledge))",
    rf"(?:\bnot|n't) (?:something|anything|a topic|a question|an area)(?: that)? (?:i|we|{_GIVEN})\b",
    r"\bmy (?:training|knowledge|expertise|data|sources|documents)(?: base| data)? (?:does not|doesn't|do not|"
    r"don't|has nothing|ha(?:s|ve) no|hold nothing)\b",
    r"\bi(?:'m| am) not aware of (?:any|that)\b|\bi know (?:nothing|little) (?:about|of|on)\b|^nothing i (?:have|"
    r"know|found)\b",
    rf"\bi lack (?:access\b|context\b|{_ABOUT})|^(?:could not|couldn't|did not|didn't) {_LY}{_FIND}",
    rf"\bi (?:do not|don't) (?:think|believe)(?: that)? {_GIVEN} {_LY}(?:{_SAY}|{_HOLD})",
    # the documents
    rf"\bit {_DO_NOT} (?:look|seem|appear) (?:like|that|as (?:if|though)) [^.;]{{0,40}}?{_GIVEN}\b",
    rf"\b{SOURCE}{_GAP} (?:contain|provide|give|offer|hold|ha(?:s|ve)|include|make|show)s? (?:absolutely )?(?:(?:no|"
    rf"little|insufficient|not enough) (?:{_ABOUT}|\w+ (?:on|about|regarding|of|for)\b)|nothing (?:on|about|of|that|"
    r"for)\b)",
    rf"\b{SOURCE}{_GAP} (?:{_DO_NOT}|fails? to|never|cannot|can't) {_LY}(?:{_SAY}|{_HOLD} "
    rf"(?:\w+ )?{upto(4)}(?:{_INFORMATION}|context|clarity)\b)",
    rf"(?:\b(?!materials?|source\b|references){_TEXT}|(?:(?<=provided\s)|(?<=given\s)|(?<=supplied\s)|(?<=available\s))"
    rf"(?:materials?|source|references)){_GAP} (?:{_DO_NOT}|never) {_LY}{_HOLD}",
    rf"^(?:it|they|that|this)(?: also)? {_DO_NOT} {_LY}(?:{_SAY}|{_HOLD} (?:{_ABOUT}|{_EXACT}))",
    rf"\b(?:but|and|however,?|though|although|while|since) (?:it|they|these|this) {_DO_NOT} {_LY}(?:{_SAY}|{_HOLD} "
    rf"(?:{_ABOUT}|{_EXACT}))",
    rf"\bneither (?:of them )?{_LY}(?:mentions?|states?|says?|specif\w+)\b|^(?:does(?: not|n't)) {_LY}(?:{_SAY}|"
    rf"{_HOLD} (?:{_ABOUT}|{_EXACT}))",
    rf"^(?:do not|don't) {_LY}(?:mention|specify|state|address|(?:provide|contain|give|include|offer) (?:{_EXACT}|"
    rf"{_ABOUT}))\b",
    rf"\b(?:none|nothing|neither|no part|nowhere)(?: of| in| on)?(?: of)? {upto(4)}{_TEXT}\b[^.;]{{0,40}}?(?:$|[.!]|"
    r"mention|contain|deal|address|cover|provide|describe|discuss|answer|say|speak|refer|about|on |for |state|"
    r"specif|explain|indicate|give|suggest)",
    rf"\b(?:none of (?:them|these)|no (?:document|passage|source|article)) {_LY}(?:mention|provide|state|say|give|"
    r"contain|address|specif|offer|answer|cover|explain)",
    rf"(?:\b(?:not|nowhere|never)|n't) {_LY}(?:been |to be )?{_STATED}\b(?:[^.;:,]|, ){{0,70}}?\b(?:in|from|by|within|"
    rf"of|on|using|with) (?:the|any of the|these|my|our|this|your) {upto(3)}{_TEXT}\b(?! \w+$)",
    rf"(?:\b(?:not|nowhere|never)|n't) {_LY}(?:been )?(?:specified|mentioned|stated|addressed|discussed|explained|"
    r"found|given|provided|indicated) [^.;:,]{0,60}?\b(?:in|by|within) (?:the|any of the|these|this) "
    rf"{upto(2)}(?:information|content|guide|prompt|handbook|section|leaflet|page)\b(?! \w+$)",
    rf"\b(?:based on|from|according to|in|within|with|given|using) {_GIVEN}(?: \w+){{0,2}},? "
    rf"(?:[^.;]{{0,110}}?(?: |(?=')))?(?:{_IS} {_LY}(?:not {_LY}(?:been )?(?:{_STATED}|possible to (?:\w+ly )?"
    rf"(?:answer|determine|say|tell|identify|provide|confirm|give|know (?:{_ASK}|the exact))|enough)|{_UNCLEAR}|"
    rf"(?:hard|difficult|impossible) to|no {upto(4)}(?:{_INFORMATION}|definitive|specific))|(?:is|are)n't {_LY}"
    rf"{_STATED}|{_CANNOT} be {_LY}(?:determined|answered|said|confirmed|inferred|concluded))",
    rf"\bthere(?:'s|{_IS}| {_IS}) {_LY}(?:currently |also )?(?:no|not enough|insufficient|not any|not sufficient) "
    rf"{_ABOUT}\b(?! (?:that|you) )",
    rf"\bthere (?:isn't|aren't|wasn't|is not|are not) {_LY}(?:any|enough|sufficient|much|a) {upto(4)}(?:{_INFORMATION}|"
    r"context)\b",
    rf"\bthere {_IS} no [^.;]{{0,70}}?\b(?:mentioned|specified|provided|stated|described|listed|indicated)\b",
    r"^(?:the|an?|this|that|your|such)? ?(?:\w+ )?(?:answer|information|details?|question)\b(?! (?:desk|"
    rf"sheet))(?:[^.;]{{0,80}}?) (?:(?:is|are|was|were)(?: not|n't) {_LY}(?:currently )?(?:{_STATED}|in (?:the|my))|"
    rf"(?:is|are|remains?) {_LY}(?:{_UNCLEAR}|unavailable|missing)|{_CANNOT} be {_LY}(?:determined|answered|found|"
    r"provided|confirmed))",
    rf"\b{_CANNOT} be {_LY}(?:determined|answered|inferred|concluded|confirmed|derived|established|verified) (?:\w+ "
    r")?(?:from|based|using|with|by|without|given)\b",
    rf"^(?:it|this|that|what|which)(?:'s| is| was| remains?) {_LY}(?:{_UNCLEAR}|not (?:known|(?:(?:explicitly|"
    r"directly|specifically|entirely) )?(?:clear|stated|specified|mentioned|provided|disclosed)))(?:$|[.,;!]| "
    rf"{_ASK}\b| (?:from|based|on|to me|at|exactly|within|given|about)\b)",
    rf"\b(?:it|this|that)(?:'s| is) {_LY}(?:impossible|difficult|hard|not possible)(?: for me)? to {_LY}(?:answer|"
    rf"say|tell|determine|know (?:{_ASK}|for)|identify|draw|infer|confirm (?:this|that|if|whether))\b",
    rf"(?<!if\s)\b(?:is|are|was|were)(?: not|n't) {_LY}(?:specified|mentioned|stated|disclosed|documented)(?:$|[.!])",
    rf"^(?:(?:unknown|unclear)(?=[.!]*$| (?:{_ASK}|from|in|to|at|based|given)\b)|n/a|na(?=[.!]*$)|no answer|no "
    r"comment|not (?:specified|mentioned|stated|known|answerable|provided|found|applicable|disclosed|"
    r"available))\b[^:,]{0,30}$|"
    r"^unknown(?:$|[.!,;])|^(?:absolutely )?no (?:idea|clue)\b|^no (?:relevant |such )?(?:information|mention|details|"
    r"data|answer)\b[^:,]{0,30}$",
    rf"\bno {upto(6)}(?:is|are|was|were) {_LY}(?:mentioned|specified|stated|described|indicated|given)(?:$|[.!]| in "
    r"(?:the|this|these) )",
    rf"\b(?:and|but) does(?: not|n't) {_LY}(?:mention|specif|state|address|discuss|explain|{_HOLD} (?:{_ABOUT}|"
    rf"{_EXACT}))",
    rf"\bthere does(?: not|n't) (?:seem|appear) to be (?:any|an?|enough|much) {_ABOUT}",
    rf"\b(?:not|n't) {_LY}(?:relevant|related) to (?:the|this|your|my) {upto(2)}(?:{_TEXT}|question|training|"
    r"programming)\b",
    r"^(?:not enough|insufficient) (?:information|context|data|details)\b|^(?:cannot|can't|unable to) (?:answer|be "
    r"(?:determined|answered)|determine|say|help|tell)\b[^.;]{0,40}[.!]?$|\bi (?:don't|do not) see (?:that|this|it|"
    r"anything|any mention)\b",
    rf"\bno {upto(3)}(?:information|mention|details?|documents?|answer|results?|sources?) {upto(6)}(?:found|available|"
    r"provided|given|mentioned|located)\b",
    rf"\b{SOURCE} (?:\w+ )?(?:leaves?|left) (?:(?:this|that|it) )?(?:open|out|unanswered|unclear)\b|\b{SOURCE} "
    r"(?:\w+ )?(?:is|are|remains?) (?:\w+ly )?(?:silent|vague|unclear|insufficient)\b|\bsays? nothing (?:about|on|"
    r"of|regarding)\b",
    r"\bit is silent on\b|\bmore (?:information|context|details?) (?:is|are|would be) (?:needed|required|"
    r"necessary) to\b",
    r"\bthere is no (?:\w+[ -])?(?:definitive|clear|direct|explicit|conclusive|single|right|one-size-fits-all|"
    r"simple)(?: \w+)? answer\b",
    r"\bthere is no (?:definitive|clear|specific|direct) evidence (?:\w+ ){0,4}to (?:determine|answer|say)\b",
    r"\bwe (?:do not|don't) know (?:the answer|enough)\b",
    r"\b(?:is|was|are) (?:not given|not known by) (?:a|any) (?:specific|particular|exact)\b",
    begins=BEGINS,
)

LIMIT = pattern(
    r"^i(?:'m| am| can| could)?(?: also| currently)? only (?:able to |allowed to |trained to |designed to |here to "
    r")?(?:help|assist|"
    r"support|answer|respond|discuss|advise|(?:provide|give|offer|share) (?:\w+ ){0,2}?(?:information|answers|help|"
    r"advice|support|"
    r"details|assistance|guidance))\b",
    rf"^(?:i|we)(?: currently)? only have (?:access|knowledge|context|documents?|documentation|{_ABOUT})\b|^i (?:can|"
    r"could|am able "
    r"to) (?:help|assist|answer)\b[^.;:,]{0,30} only (?:with|on|about)\b|^i only know (?:about|what)\b|^i(?:'m| am| "
    r"was) (?:only )?"
    r"(?:trained|designed|programmed|set up|configured) (?:only|solely|exclusively|just) (?:on|to|for)\b|^i(?:'m| am) "
    r"(?:only )?"
    r"(?:limited|restricted) to\b|^my (?:knowledge|expertise|training|scope|information|help|access) (?:base )?(?:is|"
    r"are) "
    r"(?:limited|restricted|confined) to\b",
    rf"^(?:the|these|my) (?!materials?|references){upto(2)}{_TEXT}(?: (?:i|we|you) \w+| \w+ed)? only (?:contain|"
    r"provide|include|"
    rf"have|has|give|offer)s? {_ABOUT}\b",
)
