"""The words by which a Portuguese question leans on earlier ones."""

from __future__ import annotations

from monitor.assess.conversation.lexicon.leaning_words import LeaningWords, found, listed

PORTUGUESE = LeaningWords(
    code="pt",
    asking=listed("que quê quem qual quais quando onde aonde como quanto quanta quantos quantas porque porquê"),
    auxiliary=listed(
        "é são era eram foi foram será ser está estão estava há havia pode podem posso podemos poderia deve "
        "devem devo tem "
        "têm tenho faz fazem vai vão vou"
    ),
    function=listed(
        "o a os as um uma uns umas de do da dos das ao aos à às no na nos nas eu tu você vocês nós me te se meu "
        "minha meus "
        "minhas nosso nossa e ou mas se não nem muito mais menos também só já ainda aqui outro outra outros "
        "outras mesmo "
        "mesma todo toda todos todas lhe lhes sim obrigado então"
    ),
    generic=listed(
        "significa explica explicar dizer diz acontece funciona funcionam custa custam vale dura demora tempo "
        "exemplo "
        "exemplos detalhes informação informações possível diferença razão próximo melhor pior barato rápido "
        "grande seguro "
        "necessário disponível grátis gratuito"
    ),
    speaker=listed("eu você nós posso podemos pode quero devo para se"),
    pronouns=listed(
        "ele ela eles elas dele dela deles delas nele nela neles nelas isso isto aquilo disso disto nisso nisto lá ali"
    ),
    possessives=listed("seus suas"),
    before=listed(
        "em no na nos nas para com sem desde até por pelo pela durante após sob entre sobre segundo contra fora"
    ),
    address=listed("você tu"),
    pointing=found(
        r"\b(?:d|n)?(?:esse|essa|esses|essas|este|esta|estes|estas|aquele|aquela|aqueles|aquelas) "
        r"(?!(?:ano|semana|mês|noite|tarde|manhã|verão|inverno)s?\b)\w+",
        r"\b\w{2,}[áêíaei]-l[oa]s?\b",
    ),
    setting_aside=found(r"\bpor isso\b|\bisto é\b|\balém disso\b"),
    opener=found(
        r"(?:e )?(?:que tal|o que (?:há|acontece com)|e quanto (?:a|ao|à|aos|às))\b",
        r"e (?:se|para|em|no|na|nos|nas|com|os|as|depois|então)\b",
        r"(?:o que|quem|onde|algo) mais\b",
    ),
    joining=found(r"(?:e|ou|mas|também|só|até)\b,?"),
    relative=listed("que quem onde"),
    linking=listed("e ou mas se quando porque"),
    whole=found(
        r"(?:e |mas |ok |então )*(?:por ?qu[eê](?: não)?|como(?: assim)?|quanto(?: custa| tempo| é)?|quantos|quantas|"
        r"desde quando|até quando|sério|qual|quais|por exemplo|sim(?: por favor)?|não|"
        r"(?:diga-me|conte-me|fale) mais|mais (?:detalhes|informações))(?: por favor)?"
    ),
)
