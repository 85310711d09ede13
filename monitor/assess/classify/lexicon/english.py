"""English: courtesy, hedges and the shape of sentences; its refusals stand in `english_refusals.py`."""

from __future__ import annotations

from monitor.assess.classify.lexicon.english_refusals import LIMIT, REFUSING, SOURCE
from monitor.assess.classify.lexicon.wording import Wording, pattern, upto, whole, words

_CONSULT = (
    r"(?:consult|contact|refer to|check with|check|reach out to|speak (?:to|with)|ask|see|visit|get in touch with|"
    r"verify)"
)
_EXPERT = (
    r"(?:professional|expert|doctor|physician|lawyer|attorney|advis[eo]r|specialist|authorit\w+|source|provider|"
    r"mechanic|support|customer service|service|team|staff|documentation|website|manufacturer|dealer|pharmacist|"
    r"accountant|us)s?"
)

ENGLISH = Wording(
    code="en",
    cues=words(
        "t not none nothing neither nowhere never cannot unable unclear unknown unavailable unspecified unanswerable "
        "insufficient beyond outside fails fail na n no impossible unsure decline refuse silent rather little "
        "uncertain inconclusive leaves left missing difficult hard incapable lack needed required ask"
    ),
    limit_cues=words("only limited solely exclusively restricted"),
    openers=words(
        "sure certainly of absolutely hello hi hey dear good greetings thank thanks great excellent that you sorry my "
        "apologies i we if please let feel is would do don hope glad happy have best here note this these it in to "
        "based according below results details as generally individual keep remember always bear actual your the "
        "information answers however overall for from with yes ok okay welcome no once should can could what looking "
        "always importantly also also, also but ultimately exact individual times things although any some "
        "conditions circumstances prices kind take cheers warm all alright right there see just got noted regards how "
        "may"
    ),
    refusing=REFUSING,
    limit=LIMIT,
    fact=pattern(
        # what a document is free of ("contains no personal data"), not what it says about someone
        r"^(?!.*\b(?:i|we)\b).*\b(?:contain|include|hold|store|list|show|disclose|reveal|have|has)s? (?:any |no "
        r")?(?:\w+ (?:or|and) )?"
        r"(?:personal(?:ly identifiable)?|confidential|sensitive|private|proprietary|classified|identifying|"
        r"identifiable) (?:\w+ )?"
        r"(?:data|information|details|content)\b(?! (?:about|on|regarding|of|for|concerning|relating|related|such|"
        r"to)\b)",
        r"\b(?:documents?|texts?|files?|manual|content|pages?|information) (?:must|should|may|can|need|shall|"
        r"will)(?: not|not|n't)",
        r"\bdoes not need\b|\bno (?:information|details|documents?|answer) (?:\w+ )?(?:is|are) (?:\w+ )?(?:needed|"
        r"required|expected)",
        r"\bon purpose\b|\bnot (?:mentioned|stated|available|included)[^.;,]{0,40}\b(?:old|previous|former|earlier)\b",
        r"^(?:if|when|whenever|unless|as long as|in case|once)\b(?:(?!, (?:i|we|the|it|but|unfortunately)\b).)*$",
        r"\b(?:if|when|unless) (?:the|your|an?) \w+(?: \w+)? (?:is|are|does|do|was) not \w+(?: \w+)?$",
        r"\b(?:to|would) contradict\b|\b(?:when|whenever|if) (?:the|no) [^.;,]{0,30} (?:holds?|has|finds?|contains?) ",
    ),
    courtesy=whole(
        r"(?:sure|certainly|of course|absolutely|definitely|ok|okay|alright|all right|got it|understood|noted|"
        r"great|right)(?: thing)?(?:[,!.]?\s+(?:here(?:'s| is| are)|i can|i'd be (?:happy|glad)|i'm happy|i will|"
        r"i'll|let me|happy to|"
        r"glad to|here you go)\b[^.:;]{0,70})?",
        r"(?:hello|hi|hey|greetings|dear|good (?:morning|afternoon|evening|day))(?: there| again| everyone| all)?|"
        r"(?:hello|hi|hey|dear) \w+[,!]",
        r"(?:many |kind )?(?:thanks|thank you)(?: (?:so|very) much| a lot)?(?: (?:again|for|in "
        r"advance)\b[^.;:]{0,80})?",
        r"(?:that's|that is|this is|what)? ?an? (?:really |very )?(?:great|good|excellent|interesting|important|fair|"
        r"thoughtful) (?:question|point)[^.;:]{0,40}|(?:great|good|excellent|interesting) (?:question|point)",
        r"you(?:'re| are) (?:absolutely |quite )?(?:right|correct)(?:,? (?:and )?(?:i (?:do )?apologi[sz]e|(?:i'm |"
        r"i am )?sorry|my apologies|thank you|thanks)[^.:;\d]{0,60})?",
        r"you(?:'re| are) (?:very |most )?welcome(?: to (?:ask|contact|reach)[^.;:]{0,40})?|welcome(?: to (?:our|"
        r"the) [^.;:]{0,30})?|my pleasure|no (?:problem|worries)|here you go",
        r"(?:i'm|i am|we're|we are)? ?(?:(?:very|so|truly|terribly|really) )?(?:sorry|apologi[sz]e|my "
        r"apologies)(?: (?:for|about|to hear|that you)[^.:;,]{0,90})?(?:,? sorry)?|(?:i|we) (?:(?:do|sincerely) "
        r")?apologi[sz]e(?: (?:for|about)[^.:;,]{0,90})?|(?:my|our) (?:sincere )?apologies(?: (?:for|"
        r"about)[^.:;,]{0,90})?|apologies(?: for[^.:;,]{0,60})?",
        r"(?:i|we)(?:'d| would|'ll| will|'m| am|'re| are) (?:also |always |more than )?(?:be )?(?:more than "
        r")?(?:happy|glad|pleased|delighted|here) to (?:help|assist|answer|provide|explain|clarify|support|"
        r"elaborate|try)[^.;]{0,100}",
        r"(?:happy|glad|always happy) to (?:help|assist)[^.;]{0,40}",
        r"(?:please )?(?:do not|don't) hesitate to [^.;]{0,90}|(?:please )?feel free to (?:ask|reach|contact|let|"
        r"provide|share|message|come|get|follow)[^.;]{0,100}",
        r"(?:please |just )?let me know (?:if|whether|when|how|what|which|should|in case)[^.;]{0,110}|(?:please "
        r")?let me know",
        r"(?:if|should|once|in case) (?:you|there)(?:'d|'ll|'re| (?:have|need|would|want|could|can|are|still|wish|"
        r"is|provide|share|require))[^.;]{0,110}(?:let me know|feel free|hesitate|(?:just|please) ask|happy to|"
        r"glad to|here to help|contact us|reach out|get in touch|i can (?:try|help|assist|look)|i (?:may|might|"
        r"could|would|will) (?:be able|be happy)|help you further|try (?:to|and) (?:help|assist|provide|answer|"
        r"give))[^.;]{0,110}",
        r"(?:is|was) there anything else[^.;]{0,70}|anything else[^.;]{0,50}|(?:do|did) you (?:have|need) any "
        r"(?:other|more|further)[^.;]{0,60}|(?:would|do) you (?:like|want) (?:me to|to know more|more|any|"
        r"help)[^.;]{0,100}|does (?:this|that) (?:help|answer|make sense)[^.;]{0,40}|(?:(?:how|what) (?:else "
        r")?)?(?:can|may) i (?:help|assist|do)[^.;]{0,50}",
        r"(?:if|should|once|in case) (?:you|there)(?:'d|'ll|'re| (?:have|need|would|want|could|can|are|still|wish|is|"
        r"require))[^.;,\d]{0,60}, (?:please )?(?:contact|reach out to|get in touch with|ask|call|write to) (?:\w+ )?"
        r"(?:our |the |your |customer )?(?:us|support|team|service|staff|helpdesk|sales)\b[^.;\d]{0,40}",
        r"(?:could|can|would) you (?:please |kindly )?(?:provide|clarify|share|rephrase|specify|tell|give|be "
        r"thinking|let|elaborate|confirm|check)[^.;]{0,160}",
        r"please (?:(?:provide|share|give|specify)(?: (?:me|us))?(?: with)? (?:more|additional|further|some|any|"
        r"the full|me|us)|clarify|rephrase|try asking|reach out|get in touch)\b[^.;]{0,110}",
        r"(?:please |you (?:can|may|could|might want to) )(?:contact|reach out to|speak to|ask) (?:\w+ )?(?:our|us|"
        rf"the|customer|your) ?{upto(5)}(?:support|service|team|us|staff|desk|helpdesk|sales|branch)\b[^.;]{{0,70}}|"
        r"please contact us",
        r"have a (?:great|nice|good|lovely|wonderful|pleasant) [^.;]{0,30}|(?:best|kind|warm) (?:regards|wishes)|"
        r"regards|cheers|good luck[^.;]{0,50}|take care|enjoy[^.;]{0,30}|(?:i )?look(?:ing)? forward to "
        r"[^.;]{0,60}|(?:i'm|i am) here (?:to|if)[^.;]{0,60}|(?:i )?wish you [^.;]{0,50}",
        r"(?:i )?(?:understand|appreciate) (?:your|that you|the|how)[^.;]{0,80}",
    ),
    hedge=whole(
        r"(?:(?:i|we) )?(?:really )?hope (?:that )?(?:this|that|it|these|the|you|i)\b[^.;]{0,90}|hopefully,? "
        r"(?:this|that|it)\b[^.;]{0,60}(?:help|useful|clear|answer)\w*[^.;]{0,40}",
        r"(?:please |kindly |do |also,? )?(?:note|keep in mind|bear in mind|be aware|remember|be advised)[,:]?(?: "
        r"also)?(?: that)? (?:this|these|the|it|my|i|some|actual|exact|individual|your|results?|details?|"
        r"information|things|there|conditions|circumstances|prices|policies|rules)\b[^.;:]{0,50}(?:may|might|can|"
        r"could|not|change|vary|depend|only|always|general|based)\b[^.;:]{0,70}",
        r"(?:but |however,? |that said,? |of course,? |also,? |although )?(?:this|these|it|the|that|actual|exact|"
        r"individual|your|some|results?|details?|information|things|conditions|circumstances|prices|answers?|"
        r"policies|situations?|experiences?)(?: (?:information|answer|results?|details?|circumstances|situations?|"
        r"cases?|conditions|experiences?|exact|specifics|figures?|list|summary|response|above|here|mileage|"
        r"specific)){0,3} (?:may|might|can|could|will)(?: also| still| always| of course)? (?:(?:vary|differ|"
        r"change)(?: (?:over|from (?:person|place|time|one|case)|depending|with(?!out)|based|by|between|at|in|due|"
        r"according|as|and|or|significantly|slightly|considerably|widely)\b[^.;:]{0,60})?(?=\W*$)|be (?:different|"
        r"incomplete|outdated|inaccurate|subject|out of date|wrong|more to it)|not (?:be|apply|reflect|cover)|"
        r"depend|have (?:changed|since changed))\b[^.;:]{0,80}",
        r"(?:it|this|that)(?: all| really| will| can)? depends?(?: on (?:your|the|several|many|various|a number|"
        r"individual|specific|each|how|circumstances)[^.;:]{0,60})?",
        r"(?:but |though )?(?:i|we) (?:may|might|could) be (?:wrong|mistaken|missing|incorrect)[^.;:]{0,60}|(?:but "
        r")?(?:don't|do not) quote me on (?:this|that)|(?:but )?(?:i'm|i am) not (?:\w+ )?(?:sure|certain|an "
        r"expert|a doctor|a lawyer)[^.;:]{0,30}(?:though)?(?<!sure)(?<!certain)",
        r"(?:this|that|the (?:above|following|answer|information(?: above)?|response)) is (?:not|for|only|just|"
        r"based|to the best|a (?:general|brief|short|simplified)|general|intended|my)\b[^.;:]{0,30}(?:advice|"
        r"purposes|informational|summary|overview|guidance|information|documents?|context|passages?|sources?|"
        r"knowledge|understanding|guideline|substitute)\b[^.;:]{0,60}",
        r"(?:as far as (?:i|we) (?:know|can tell|can see|understand)|to the best of my knowledge|(?:i|we) "
        r"(?:believe|think) (?:this|that|so)|if i understand correctly|from what i can (?:tell|see))(?:,? (?:this|"
        r"that|it)(?: is|'s) (?:\w+ly )?(?:correct|right|accurate|the case|true|up to date))?(?:,? but "
        r"[^.;:]{0,60})?",
        r"(?:please |so,? |however,? |but )?(?:always |also |do )?(?:double[- ]?check|verify|confirm|consult|"
        r"check)(?: (?:with|this|that|it|the|an?|your|any|important|official|details?|"
        rf"information)){{1,3}}[^.;:]{{0,60}}{_EXPERT}\b[^.;:]{{0,60}}|(?:please )?(?:always )?(?:double[- ]?check|"
        r"verify) (?:this|that|it|the|any|all|important)\b[^.;:]{0,60}",
        r"(?:it(?:'s| is)|i(?:'d| would)?) (?:\w+ )?(?:\w+ )?(?:best|recommend\w*|advis\w*|a good idea|important|"
        rf"suggest\w*|wise|worth|advisable|always)\b(?: \w+)? ?(?:that you |to |you )?(?:always )?(?:{_CONSULT}|"
        r"double[- ]?check)\w*\b[^.;:]{0,90}",
        r"(?:it(?:'s| is) )(?:\w+ )?(?:important|worth|also worth) (?:to )?(?:note|noting|remember\w*)(?: that)? "
        r"(?:this|these|the|it|results?|individual|some|actual|my|details?|information)\b[^.;:]{0,40}(?:may|might|"
        r"can|could|not|vary|change)\b[^.;:]{0,60}",
        r"(?:based on|according to|from|given|per|using|looking at|after reviewing|having reviewed) (?:the|these|"
        rf"this|your|my|our|all) {upto(3)}{SOURCE}(?: (?:\w+ed|above|available|given|i \w+|you \w+))?(?:, "
        r"?(?:here(?:'s| is| are)|i (?:found|can|have)|the following|this is|we can)[^.;:]{0,70})?",
        r"(?:in |to )?(?:summary|summari[sz]e|conclusion|short|sum up|brief|recap)(?:,? (?:here(?:'s| is| "
        r"are))[^.;:]{0,60})?",
        r"(?:so,? |below,? )?(?:here(?:'s| is| are|)|below (?:is|are)|these are|the following (?:is|are)|you'll "
        r"find)(?: below)? (?:an?|the|some|what|my|your|how|all|more|you)\b[^.;]{0,40}?(?:summary|overview|"
        r"answer|breakdown|list|explanation|points?|steps?|details?|information|response|found|know|go|main|key|"
        r"way|ways|how|facts|it|documents?|sources?|guide)\b[^.;:]{0,60}",
        r"(?:key|main) (?:points|takeaways|facts|details|steps)|(?:summary|answer|short answer|explanation|"
        r"overview|details|sources|references|conclusion|note|disclaimer)|here(?:'s how| you go| it is| goes)?",
        r"(?:please )?follow these steps|let me (?:explain|summari[sz]e|break [^.;:]{0,30}|walk [^.;:]{0,40}|"
        r"see[^.;:]{0,30}|check[^.;:]{0,30}|look (?:into|that|it|this)[^.;:]{0,30}|"
        r"find[^.;:]{0,30})|let's (?:break|look|see|take|dive)[^.;:]{0,50}",
        r"(?:generally speaking|in general|overall|ultimately|of course),? (?:this|it|results?|details?|things|"
        r"these)[^.;:]{0,20}(?:may|might|can|could|depends?|vary|varies|differ)\b[^.;:]{0,60}",
        r"(?:that being|that) said|(?:with|in) that in mind|your mileage may vary|no guarantees?|(?:take|treat) "
        r"(?:this|it) [^.;:]{0,50}(?:grain of salt|guide|caution)[^.;:]{0,30}",
    ),
    apology=whole(
        r"(?:i'm |i am |we're |we are )?(?:(?:very|so|truly|terribly|really) )?sorry(?: about that)?|(?:my |our "
        r")?(?:sincere )?apologies|i apologi[sz]e"
    ),
    lead=pattern(
        r"[\W_]*(?:(?:i'm|i am|we're|we are) (?:(?:very|so|really|terribly|truly) )?(?:sorry|afraid)(?: that)?|"
        r"sorry|(?:my )?apologies|i (?:do )?apologi[sz]e(?: for (?:the|any) \w+)?|unfortunately|regrettably|sadly|"
        r"however|but|so|therefore|thus|hence|hmm+|well|no(?=,)|yes|and|also|additionally|finally|without "
        r"(?:further|more|additional|any) \w+(?: or \w+)?(?=,)|consequently|as a result|as such|honestly|to be "
        r"honest|i (?:think|believe)(?: that)?|at the moment|currently|for now|again|also|still|instead|in fact|oh|"
        r"i wish i could help|as far as i can (?:see|tell)|hello|hi)\b['\W_]*"
    ),
    border=pattern(
        r"[,;:–—-]+ (?:but|however|though|although|whereas|while|yet|nevertheless|nonetheless|instead)\b,? ",
        r"; |[–—] | - | but | however,? | although | whereas ",
        r", (?:and|so) (?:i|we|it|they|you|the|that|there) | and (?=(?:it is|it's|i (?:do|can|could|am|have)|there "
        r"is|there are) )",
        r", so ",
    ),
    concessive=pattern(r"[\W_]*(?:although|though|even though|while|whilst|whereas|even if)\b"),
    aside=pattern(
        r"(?:(?:based on|from|according to) [^,.;]{0,40}, )?(?:it|they|these|others?|(?:instead,? )?the others?|"
        rf"(?:the|this|that|these|my|our|some|other|most|all|your)(?: of the)? {upto(4)}{SOURCE}(?: (?:i|we|you) "
        r"\w+| \w+ed)?) (?:(?:do|does) )?(?:only|just|mainly|mostly|merely|primarily|instead|simply|solely|"
        r"generally|is only|are only)\b",
        r"only |instead\b|i (?:have |'ve )?(?:also )?(?:looked|searched|checked|reviewed|went|read|would love|"
        r"wish)\b|(?:you'd|you would|you'll) (?:\w+ )?have to (?:ask|contact|check|consult)|(?:it|this|that) could "
        r"(?:\w+ )?(?:be|refer|mean)\b",
        r"(?:i|we) (?:can |am |'m )?only (?:help|answer|assist|deal|cover|able|have)",
        rf"(?:it is|it's|i|we) {upto(2)}(?:recommended|advisable|best|suggested|advised|recommend|suggest|advise) "
        rf"(?:that )?(?:you )?(?:to )?(?:always )?{_CONSULT}",
        r"(?:please|(?:you|one) (?:can|may|should|could|might|will|would)(?: need to| want to| have to)?(?: also)?|"
        rf"try|therefore,? you should) ?(?:{_CONSULT}|retry|rephrase|provide|search|look|try (?:asking|again|"
        r"contact|consult|check|search))",
        r"(?:if|once) you (?:have|need|could|can|would|provide|share|give|are looking)\b",
        r"the (?:question|user) (?:is )?(?:asks?|asking)\b|you(?: asked|'re asking| are asking) ",
        rf"(?:some|other|different|each of the|most) {upto(2)}(?:{SOURCE}|others?)\b[^.;]{{0,40}}?(?:while|suggest|"
        r"mention|state|provide|offer|say)",
        r"(?:it|this|that|they) (?:will |may |might |can |could )?(?:also )?(?:depends?|var(?:y|ies)|differs?)\b|"
        r"it(?:'s| is) (?:also )?possible that",
        r"(?:for|to get) (?:more|further|accurate|specific) ",
    ),
    report=pattern(
        rf"(?:(?:it|they)|(?:(?:the|this|these|that|some|other) {upto(4)})?{SOURCE}(?: \d+| (?:i|we|you) \w+| "
        r"\w+ed)?)(?: also| do| does)? (?:\w+ly )?(?:talk|discuss|mention|focus|deal|cover|provide|describe|"
        r"suggest|say|state|explain|contain|list|give|refer|indicate|address)",
    ),
)
