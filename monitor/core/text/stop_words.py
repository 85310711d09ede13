"""Words that say nothing of what a text is about, in the languages that write words apart."""

from __future__ import annotations

_ENGLISH = (
    "a about after again all also am an and another any anybody anyone anything are as at away back be because been "
    "before being both but by can cannot could d did do does doing done don dont down each either else even ever "
    "every for from further get gets getting give given go goes going got had has have having he help her here hers "
    "him his how however i if im in into is isnt it its itself ive just know let like ll m made make many may me "
    "might more most much must my myself need no nor not now of off on once one only or other our ours out over own "
    "please put re really s same say see set shall she should so some someone something still such sure t take tell "
    "than thank thanks that the their them then there these they thing things this those though through to too try "
    "under until up us use used using ve very want was way we well were what when where whether which while who whom "
    "whose why will with within without work works would yes yet you your yours"
)
_GERMAN = (
    "aber alle als also am an auch auf aus bei bin bis bist bitte da damit dann das dass dein dem den der des dich "
    "die dies diese dieser dir doch du durch ein eine einem einen einer er es für gibt habe haben hat hatte ich ihr "
    "im in ist ja kann kein keine können man mein meine mich mir mit muss nach nicht noch nur ob oder ohne schon sein "
    "seine sich sie sind so soll über um und uns unser von vor wann war warum was welche welcher wenn wer werden wie "
    "wieder wir wird wo worden zu zum zur"
)
_FRENCH = (
    "ai au aux avec avez ce ces cette comment dans de des du elle en est et été il ils je la le les leur ma mais me "
    "mes moi mon ne nous on ont ou où par pas peut peux plus pour pourquoi puis quand que quel quelle qui sa sans se "
    "ses si son sont sur ta te tes ton tu un une vos votre vous"
)
_SPANISH = (
    "al como cómo con cual cuál cuando cuándo de del desde donde dónde el ella en entre es esta está este esto hay la "
    "las le lo los más me mi mis muy no nos para pero por porque puede puedo que qué quien se ser si sí sin sobre son "
    "su sus también te tiene tengo un una uno usted ya yo"
)
_PORTUGUESE = (
    "ao aos até com como da das de do dos ela ele em então essa esse esta este eu foi isso isto já mais mas me meu "
    "minha muito na não nas no nos nós o onde os ou para pela pelo pode por porque posso qual quando que quem se sem "
    "ser seu sua são também tem tenho um uma você"
)
_ITALIAN = (
    "ai al alla anche che chi ci come con cosa cui da dal dalla dei del della delle di dove e è era gli ha hanno ho i "
    "il in io la le lei lo lui ma mi mia mio nei nel nella non o per perché più posso può quale quando quello questa "
    "questo se sei si sia sono su sua suo sul sulla ti tra tu un una uno vi"
)
STOP_WORDS = frozenset(f"{_ENGLISH} {_GERMAN} {_FRENCH} {_SPANISH} {_PORTUGUESE} {_ITALIAN}".split())
