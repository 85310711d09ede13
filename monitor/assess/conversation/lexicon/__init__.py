"""By which words a question leans on earlier turns, in one module per language, those without spaces in one.

In: words and patterns of each language. Out: the languages. A new one takes a module, a place here and a test.
"""

from __future__ import annotations

from monitor.assess.conversation.lexicon.english import ENGLISH
from monitor.assess.conversation.lexicon.french import FRENCH
from monitor.assess.conversation.lexicon.german import GERMAN
from monitor.assess.conversation.lexicon.italian import ITALIAN
from monitor.assess.conversation.lexicon.leaning_words import listed
from monitor.assess.conversation.lexicon.portuguese import PORTUGUESE
from monitor.assess.conversation.lexicon.spanish import SPANISH
from monitor.assess.conversation.lexicon.unspaced import CHINESE, JAPANESE, KOREAN

SPACED = (ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE, ITALIAN)
UNSPACED = (CHINESE, JAPANESE, KOREAN)
# They name nothing, in whatever language they are said.
COURTESY = listed(
    "thanks thank hello hi hey bye great perfect cool nice fine super prima danke hallo merci bonjour salut gracias "
    "hola obrigado obrigada olá grazie ciao"
)
