"""The words by which a French question leans on earlier ones."""

from __future__ import annotations

from monitor.assess.conversation.lexicon.leaning_words import LeaningWords, found, listed

FRENCH = LeaningWords(
    code="fr",
    asking=listed("qui que quoi quel quelle quels quelles quand où pourquoi comment combien lequel laquelle lesquels"),
    auxiliary=listed(
        "est sont était étaient sera seront a ont avait avaient ai avez as peut peuvent puis peux pouvez doit "
        "doivent "
        "dois devez faut va vont fait faire font y été être avoir"
    ),
    function=listed(
        "le la les l un une des du de d au aux je j tu nous vous on me m te se s mon ma mes notre nos votre vos "
        "ton ta tes "
        "et ou mais donc aussi ne n pas plus moins très si c ce qu quel même autre autres tout tous toute toutes "
        "ici en "
        "par t encore déjà oui non alors encore seulement bien merci"
    ),
    generic=listed(
        "dire dit explique expliquer expliquez passe marche fonctionne fonctionnent coûte coûtent coute dure "
        "longtemps "
        "temps souvent grand exemple exemples détails informations possible différence raison suite suivant vaut "
        "mieux "
        "meilleur meilleure rapide cher chère plutôt sûr savoir disponible nécessaire obligatoire gratuit"
    ),
    speaker=listed("je j tu nous vous on puis peux pouvez peut faut de pour"),
    pronouns=listed("il ils elle elles lui eux ça cela ceci celui celle ceux celles leur leurs là dedans dessus"),
    possessives=listed("son sa ses"),
    before=listed(
        "en dans pour avec sans chez sur sous pendant après avant depuis entre jusqu contre à au aux par selon "
        "malgré hors"
    ),
    address=listed("tu toi te"),
    pointing=found(
        r"\b(?:ce|cet|cette|ces) (?!(?:année|semaine|mois|soir|matin|week|que|qui|qu|sont|jour|jours|moment|"
        r"genre)\b)\w+",
        r"\b(?:puis-je|peut-on|pouvez-vous|peux-tu|comment|où|faut-il) (?:les |le |la |l')\w+(?:er|ir|re)\b\s*\??$",
    ),
    setting_aside=found(
        r"\best-ce qu(?:e|')|\bqu'est-ce (?:que|qu'|qui)|\bc'est\b|\b(?:il y a|y a-t-il|y avait-il)\b",
        r"\b(?:faut-il|il faut|il est|est-il|était-il|vaut-il|il vaut|suffit-il) (?!né\b|mort\b|disponible\b)",
        r"\b(?:elle|il|lui|eux|elles)-mêmes?\b|\bpar là\b",
    ),
    opener=found(
        r"(?:et |mais |ok )?(?:qu'en est-il|quid|et si|et pour|et avec|et dans|et en|et chez|et les|et le|et la|"
        r"et l')",
        r"(?:quoi|qui|où) d'autre\b|et (?:après|ensuite|alors)\b|pareil pour\b",
    ),
    joining=found(r"(?:et|ou|mais|aussi|seulement|même)\b,?"),
    relative=listed("qui que qu dont où"),
    linking=listed("et ou mais si quand parce lorsque"),
    vague=listed("ils"),
    whole=found(
        r"(?:et |mais |ok |alors )*(?:pourquoi(?: pas| ça| donc)?|comment(?: ça)?|combien(?: de temps)?|depuis quand|"
        r"jusqu'à quand|vraiment|lesquels|lesquelles|lequel|laquelle|par exemple|c'est-à-dire|oui|non|"
        r"dis-m'en plus|dites-m'en plus|plus de détails|c'est quoi|c'est combien|ça coûte combien)"
        r"(?: s'il vous plaît)?"
    ),
)
