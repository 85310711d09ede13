"""How Polish words refusals, courtesies and hedges."""

from __future__ import annotations

from monitor.assess.classify.lexicon.wording import Wording, pattern, upto, whole, words

_TEXT = (
    r"(?:dokumen[tc]\w*|tekst\w*|tekście|kontekst\w*|kontekście|źród\w+|materiał\w*|instrukcj\w+|artykuł\w*|artykule|"
    r"fragment\w*|podręcznik\w*|broszur\w*|akapi\w+|baz\w+ wiedzy|wynik\w* wyszukiwania|opis\w*|opisie)"
)
_INFORMATION = r"(?:informacj\w+|danych|wzmianki|odpowiedzi|szczegółów|wskazówek|wiedzy)"
_SAY = (
    r"(?:zawier\w+|wspomina\w*|podaj\w+|podają|podano|określ\w+|mówi\w*|wyjaśni\w+|opisuj\w+|opisują|opisano|"
    r"odpowiada\w*|precyzuj\w+|wskazuj\w+|wskazano|obejmuj\w+|obejmują|dostarcza\w*|informuj\w+|wymieni\w+|odnos\w+ "
    r"się|porusza\w*|wspomnian\w+|wynika\w*|wiadomo|sprecyzowan\w+|ma (?:\w+ ){0,3}(?:mowy|informacji|wzmianki|danych|"
    r"odpowiedzi)|znalazł\w+|znaleziono|znajduję|widzę)"
)
_REPLY = (
    r"(?:odpowiedzieć|odpowiadać|pomóc|powiedzieć|określić|stwierdzić|ustalić|potwierdzić|znaleźć|odnaleźć|doradzić|"
    r"ujawni\w+|udostępni\w+|ocenić|rozstrzygnąć|odnieść się|(?:udziel\w+|poda\w+|dostarczyć|przekazać) (?:\w+ "
    r"){0,3}?(?:odpowiedzi|informacji|porad\w*|danych|szczegółów))"
)
_ASK = r"(?:kto|kiedy|jak|czy|ile|gdzie|co|dlaczego|jak\w+|któr\w+|skąd|na czym)"
_STATED = r"(?:podan|określon|wspomnian|wymienion|wskazan|opisan|sprecyzowan|wyjaśnion|zawart|znan|uwzględnion|jasn)\w*"

POLISH = Wording(
    code="pl",
    cues=words(
        "nie brak brakuje nic niczego żaden żadna żadne żadnym żadnej poza nieznany nieznana nieznane niejasne trudno "
        "odmawiam"
    ),
    limit_cues=words("tylko jedynie wyłącznie ogranicza ograniczona"),
    openers=words(
        "tak oczywiście jasne pewnie naturalnie chętnie z dobrze rozumiem nie proszę cześć witam witaj dzień dobry hej "
        "szanowny szanowna szanowni bardzo serdecznie dziękuję dziękujemy dzięki to świetne dobre ciekawe ważne "
        "przepraszam przepraszamy przykro jestem służę jeśli jeżeli gdyby w daj dajcie śmiało czy możesz skontaktuj "
        "pozdrawiam pozdrawiamy życzę miłego powodzenia mam pamiętaj należy zwróć warto te ta informacje ceny dane "
        "szczegóły warunki wszystko zależy mogę o powyższe zalecam najlepiej na według zgodnie oto podsumowując "
        "podsumowanie krótko odpowiedź uwaga najważniejsze niestety mogą może niniejsza niniejsze"
    ),
    refusing=pattern(
        # the speaker
        r"\bnie (?:wiem|mam pojęcia|jestem (?:\w+ )?pew(?:ien|na|ny)|znam (?:\w+ )?odpowiedzi)\b",
        r"\bnie (?:mogę|potrafię|umiem|jestem w stanie|będę w stanie|możemy|potrafimy|jesteśmy w stanie|mogłem|"
        rf"mogłam) (?:\w+ ){{0,5}}?{_REPLY}",
        rf"\bnie (?:mam|posiadam|dysponuję|dysponujemy) (?:\w+ ){{0,5}}?(?:{_INFORMATION}|dostępu|informacjami|danymi|"
        r"wiedzą)\b",
        r"\bnie (?:znalazł[ae]m|znaleźliśmy|znajduję|widzę|znaleziono|udało (?:mi |nam )?się znaleźć) (?:\w+ "
        rf"){{0,5}}?(?:{_INFORMATION}|niczego|nic|tego)\b",
        r"\b(?:nic|niczego) (?:\w+ ){0,5}?nie (?:wiem|wiadomo|mówi\w*|znalazł\w+|znajduję|ma|napisano|podano)\b|\bnic "
        r"mi (?:\w+ ){0,3}nie wiadomo\b",
        r"\btrudno (?:mi )?(?:\w+ )?(?:powiedzieć|stwierdzić|określić|odpowiedzieć)\b|\bodmawiam (?:odpowiedzi|"
        r"udziel\w+|wykonania)\b",
        r"\bpoza (?:mo(?:im|imi|ją|je|ich|jego)|zakres\w* (?:mo|dostępn|podan|tych|tego)\w*)",
        # the documents
        rf"\b{_TEXT}\b[^.;]{{0,80}}?\bnie (?:został\w* )?{_SAY}",
        rf"\bnie (?:jest|są|został[ayo]?|zostało|było|była) (?:\w+ ){{0,2}}?{_STATED}(?:$|[.!]|,? {_ASK}\b|"
        rf"[^.;]{{0,50}}?\bwe? (?:\w+ ){{0,3}}?{_TEXT})",
        r"\bnie (?:podano|określono|wspomniano|wskazano|sprecyzowano|wyjaśniono|wiadomo|ujawniono|napisano)\b(?:$|"
        rf"[.!]|,? {_ASK}\b|[^.;]{{0,50}}?\bwe? (?:\w+ ){{0,3}}?{_TEXT})",
        r"\bnie (?:ma|było) (?:\w+ ){0,5}?(?:informacji|wzmianki|danych (?:na temat|dotyczących|o)|odpowiedzi|"
        r"szczegółów)\b",
        r"\b(?:brak|brakuje) (?:\w+ ){0,3}?(?:informacji|wzmianki|odpowiedzi|szczegółów|danych)\b(?: (?:o|na|w|"
        r"dotycz\w+|dostępnych|potrzebn\w+|wystarczając\w+|niezbędn\w+)\b|$|[.!])",
        rf"\bżad(?:en|na|ne|nym|nej) (?:\w+ ){{0,3}}?{_TEXT}\b[^.;]{{0,60}}?\bnie\b",
        r"\bnie (?:można|da się|sposób|jest możliwe)\b[^.;]{0,60}?\b(?:odpowiedzieć|powiedzieć|stwierdzić|rozstrzygnąć|"
        r"udzielić (?:\w+ )?(?:odpowiedzi|informacji)|udzielenie|(?:określić|ustalić|wywnioskować) (?:\w+ ){0,3}?(?:na "
        r"podstawie|z|czy|kto|jak|kiedy|ile|gdzie))\b",
        r"\binformacj\w+ (?:\w+ ){0,4}?nie (?:pozwalaj\w+|wystarcz\w+)\b|\bodpowied\w+ (?:\w+ ){0,5}?nie (?:znajduje|"
        r"jest (?:zawarta|podana)|została podana)\b",
        r"\binformacj\w+ (?:\w+ ){0,4}?nie (?:jest|są|został\w*|figuruje|znajduj\w+)\b[^.;]{0,30}?(?:dostępn|zawart|"
        r"podan|w |się)",
        r"\b(?:jest|są|pozostaje) (?:\w+ )?(?:niejasn|nieznan)\w*(?:$|[.!,])|^(?:nie dotyczy|nieznan[aey])[.!]?$",
    ),
    limit=pattern(
        r"^mogę (?:ci |państwu |panu |pani |niestety )*(?:(?:tylko|jedynie|wyłącznie) (?:pomóc|pomagać|odpowiadać|"
        r"odpowiedzieć|udziel\w+)|(?:pomóc|pomagać|odpowiadać|odpowiedzieć|udziel\w+ \w+) (?:\w+ )?(?:tylko|jedynie|"
        r"wyłącznie))\b",
        r"^(?:mam|posiadam|dysponuję) (?:tylko|jedynie|wyłącznie) (?:\w+ )?(?:informacj\w+|dan\w+|dostęp\w*)\b|"
        r"^odpowiadam (?:tylko|jedynie|wyłącznie) na pytania\b|\bmoja wiedza (?:jest ograniczona|ogranicza się) do\b",
    ),
    fact=pattern(
        r"\bnie (?:musi|muszą|musisz|musicie|musimy|trzeba|należy|wolno|może|mogą|powinien|powinn[aoy]|wymaga|wymagają|"
        r"wymagan[aey]|potrzeba|tylko) ",
        r"^(?:jeśli|jeżeli|gdy|kiedy|dopóki|chyba że|o ile)\b(?:(?!, (?:nie mogę|nie wiem|nie mam)).)*$",
        r"\bnie (?:ma potrzeby|jest (?:potrzebn|wymagan|konieczn)\w+|są (?:potrzebn|wymagan|konieczn)\w+)",
        r"^(?!.*\b(?:mam|mogę|posiadam|dysponuję|możemy)\b).*\b(?:danych|informacji) (?:osobowych|poufnych|wrażliwych|"
        r"prywatnych)\b(?! (?:o|na|dotycz\w+)\b)",
        r"\b(?:osobom|stronom) trzecim\b",
    ),
    courtesy=whole(
        r"(?:tak|oczywiście|jasne|pewnie|naturalnie|chętnie|z przyjemnością|dobrze|rozumiem|nie ma (?:za co|sprawy|"
        r"problemu)|proszę bardzo)(?:[,!.]? (?:chętnie pomogę|już wyjaśniam|oto odpowiedź))?",
        r"(?:cześć|witam|witaj|dzień dobry|dobry wieczór|hej)(?: wszystkim| serdecznie)?|szanown\w+ [^.;:]{1,30}",
        r"(?:bardzo |serdecznie )?(?:dziękuję|dziękujemy|dzięki)(?: (?:za|bardzo|z góry|serdecznie)[^.;:]{0,80})?",
        r"(?:to )?(?:bardzo )?(?:dobre|świetne|ciekawe|ważne) pytanie",
        r"(?:bardzo )?(?:przepraszam|przepraszamy|przykro (?:mi|nam))(?: (?:bardzo|za|z powodu|że)[^.;:,]{0,80})?",
        r"(?:chętnie|z przyjemnością) (?:pomogę|odpowiem|pomożemy)[^.;\d]{0,60}|jestem (?:tu|tutaj),? (?:aby|żeby|by) "
        r"pomóc[^.;\d]{0,30}|służę pomocą",
        r"(?:jeśli|jeżeli|gdyby) (?:masz|mają|ma|potrzebuj\w+|chcesz|będ\w+|mieliby|pojawią)[^.;:\d]{0,80}(?:pyta\w+|"
        r"pomoc\w*|wątpliwości)\b[^.;:\d]{0,90}|w razie (?:\w+ )?(?:pytań|wątpliwości)[^.;:\d]{0,80}",
        r"(?:daj(?:cie)? (?:mi )?znać|proszę (?:o kontakt|dać znać|śmiało pytać)|śmiało (?:pytaj|pisz)|nie wahaj "
        r"się)[^.;\d]{0,90}",
        r"(?:czy|w czym) (?:jeszcze )?(?:mogę|możemy) [^.;\d]{0,40}(?:pomóc|zrobić)[^.;\d]{0,40}|w czym (?:jeszcze "
        r")?mogę pomóc|czy (?:jest )?(?:jeszcze coś|coś jeszcze)[^.;\d]{0,60}",
        r"(?:czy )?(?:możesz|mogą państwo|może pani?|mógłbyś|mogłabyś) (?:\w+ ){0,3}?(?:podać|doprecyzować|sprecyzować|"
        r"wyjaśnić|przeformułować|określić)[^.;\d]{0,100}|proszę (?:doprecyzować|sprecyzować|"
        r"przeformułować)[^.;\d]{0,60}",
        r"(?:proszę )?(?:skontaktować się|skontaktuj się|zwrócić się)[^.;\d]{0,60}(?:nami|obsług\w+|pomoc\w*|dział\w*|"
        r"zespoł\w+|wsparci\w+|biur\w+|infolini\w+|producent\w+|administrator\w+|sprzedawc\w+)[^.;\d]{0,40}",
        r"z poważaniem|pozdrawiamy?(?: serdecznie)?|serdecznie pozdrawiam|(?:życzę )?miłego dnia|powodzenia",
    ),
    hedge=whole(
        r"mam nadzieję,? że (?:to|ta|te|pomog|odpowied)\w*[^.;:\d]{0,60}",
        r"(?:proszę )?(?:pamiętać|pamiętaj|należy pamiętać|zwróć uwagę|zwrócić uwagę|warto pamiętać),? że (?:to|te|ta|"
        r"informacje|ceny|szczegóły|mogą|może|niektóre)[^.;:\d]{0,60}(?:może|mogą|zmieni\w+|różni\w+|"
        r"nieaktualn\w+)[^.;:\d]{0,50}",
        r"(?:te|to|ta|informacje|ceny|dane|szczegóły|warunki)(?: \w+){0,3} (?:może|mogą)(?: \w+){0,3} (?:różnić|"
        r"zmienić|zmieniać|ulec zmianie|nieaktualne|niepełne)(?: się)?[^.;:\d]{0,40}",
        r"(?:to )?(?:wszystko )?zależy od (?:\w+ ){0,2}(?:sytuacji|okoliczności|przypadku|potrzeb)[^.;:\d]{0,30}",
        r"mogę się mylić|o ile (?:mi wiadomo|wiem|się nie mylę)(?:,? (?:jest to|to) (?:prawda|poprawne|aktualne))?",
        r"(?:to|ta odpowiedź|powyższe|niniejsz\w+)[^.;:\d]{0,30}nie (?:jest|"
        r"stanowi)[^.;:\d]{0,30}porad\w+[^.;:\d]{0,30}",
        r"(?:zalecam|warto|najlepiej|proszę) (?:zawsze )?(?:sprawdzić|skonsultować|"
        r"zweryfikować)[^.;:\d]{0,60}(?:specjalist|lekarz|prawnik|ekspert|źród|stron|obsług|doradc)\w*[^.;:\d]{0,40}",
        rf"(?:na podstawie|według|zgodnie z|w oparciu o) {upto(3)}{_TEXT}(?:,? (?:oto|znalazł[ae]m)[^.;:\d]{{0,50}})?",
        r"oto [^.;\d]{0,30}(?:podsumowanie|odpowiedź|informacje|kroki|lista|przegląd|co (?:znalazłem|wiem)|punkty|"
        r"szczegóły)[^.;:\d]{0,50}",
        r"podsumowując|podsumowanie|w skrócie|krótko mówiąc|odpowiedź|uwaga|najważniejsze (?:punkty|informacje)",
    ),
    apology=whole(r"(?:bardzo )?(?:przepraszam|przepraszamy|przykro (?:mi|nam))(?: bardzo)?|niestety(?: nie)?"),
    lead=pattern(
        r"[\W_]*(?:niestety|(?:bardzo )?przepraszam|(?:bardzo )?przykro mi|jednak|ale|więc|zatem|nie(?=,)|tak|i|a|"
        r"także|ponadto|szczerze mówiąc|obecnie|obawiam się,? że|dziękuję za pytanie|dzień dobry)\b[\W_]*"
    ),
    border=pattern(
        r"[,;:–—-]+ (?:ale|jednak|natomiast|lecz|chociaż|choć|podczas gdy)\b ?",
        r"; |[–—] | - ",
        r", (?:więc|dlatego|zatem|a) ",
    ),
    concessive=pattern(r"[\W_]*(?:chociaż|choć|mimo że|pomimo że|podczas gdy|wprawdzie)\b"),
    aside=pattern(
        rf"(?:one|on|ono|tam|{upto(3)}{_TEXT}) (?:\w+ ){{0,2}}?(?:tylko|jedynie|wyłącznie|głównie)\b",
        r"(?:mogę|mam|odpowiadam|dysponuję) (?:\w+ ){0,2}?(?:tylko|jedynie|wyłącznie)\b",
        r"(?:proszę|najlepiej|zalecam|polecam|sugeruję|radzę|warto|możesz|mogą państwo|może pani?) (?:\w+ "
        r"){0,2}?(?:skontaktować|sprawdzić|zapytać|zwrócić się|spróbować|zajrzeć|podać|doprecyzować|o kontakt|"
        r"skonsultować)\b|(?:skontaktuj|spróbuj|sprawdź|zajrzyj|zapytaj)\b",
        r"(?:jeśli|jeżeli|gdy) (?:podasz|masz|możesz|poda\w*|potrzebujesz)\b|(?:pytanie|pytasz|pyta pani?)\b|to "
        r"(?:zależy|może)\b",
        r"(?:aby uzyskać )?więcej informacji\b",
    ),
    report=pattern(
        rf"(?:one|on|ono|tam|{upto(3)}{_TEXT}) (?:\w+ ){{0,3}}?(?:wspomin|podaj|opisuj|mówi|zawier|wyjaśni|wymieni|"
        r"omawi|dotycz|informuj)"
    ),
)
