"""Turkish, whose verbs carry their negation: the cues are whole forms ("bilmiyorum")."""

from __future__ import annotations

from monitor.assess.classify.lexicon.wording import Wording, pattern, upto, whole, words

_TEXT = (
    r"(?:belge|doküman|döküman|metin|metn|bağlam|kaynak|kaynağ|makale|kılavuz|pasaj|paragraf|bilgi (?:bankası|tabanı)|"
    r"içerik|içeriğ|arama sonuç|materyal|broşür)\w*"
)
_INFORMATION = r"(?:bilgi(?!sayar|lendir)|yanıt|cevap|cevab|açıklama|ayrıntı|detay)\w*"
_ENDS = r"(?:[ıi]yorum|[ae]m|[ıi]yoruz|[ae]y[ıi]z|[ae]d[ıi]m|[ae]d[ıi]k|d[ıi]m|d[ıi]k|[ae]yaca[ğg][ıi]m|[ae]yece[ğg]im)"
_MISSING = (
    r"(?:bulunmuyor|bulunmamaktadır|bulunmamakta|bulunamadı|bulunamamıştır|mevcut değil(?:dir)?|yer almıyor|yer "
    r"almamaktadır|verilmemiş(?:tir)?|verilmiyor|verilmemektedir|geçmiyor)"
)
_SAY = (
    rf"(?:{_MISSING}|içermiyor|içermemektedir|vermiyor|vermemektedir|sunmuyor|bahsetmiyor|bahsetmemektedir|"
    r"bahsedilmiyor|bahsedilmemiş(?:tir)?|bahsedilmemektedir|belirtilmemiş(?:tir)?|belirtilmiyor|"
    r"belirtilmemektedir|belirtmiyor|belirtmemektedir|söylemiyor|söylenmiyor|açıklanmamış(?:tır)?|açıklanmıyor|"
    r"açıklamıyor|açıklamamaktadır|geçmemektedir|değinmiyor|değinilmiyor|değinilmemiş(?:tir)?|anlaşılmıyor|"
    r"anlaşılmamaktadır|yazmıyor|(?:net|açık|belli) değil(?:dir)?|hiçbir şey (?:yok|yazmıyor|söylenmiyor)|(?:bilgi|"
    r"yanıt|cevap) yok(?:tur)?)"
)

TURKISH = Wording(
    code="tr",
    cues=words(
        "bilmiyorum bilemiyorum bilemem yok yoktur değil değilim değildir yanıtlayamıyorum yanıtlayamam "
        "yanıtlayamıyoruz cevaplayamıyorum cevaplayamam veremiyorum veremem veremeyeceğim edemiyorum edemem olamıyorum "
        "olamam olamayacağım söyleyemem söyleyemiyorum bulamadım bulamıyorum bulamadık bulunamadı bulunamamıştır "
        "belirleyemiyorum paylaşamam paylaşamıyorum sunamıyorum sunamam bulunmuyor bulunmamaktadır bulunmamakta "
        "almıyor almamaktadır verilmemiş verilmemiştir verilmiyor verilmemektedir içermiyor içermemektedir vermiyor "
        "vermemektedir geçmiyor geçmemektedir sunmuyor bahsetmiyor bahsetmemektedir bahsedilmiyor bahsedilmemiş "
        "bahsedilmemiştir bahsedilmemektedir belirtilmemiş belirtilmemiştir belirtilmiyor belirtilmemektedir "
        "belirtmiyor belirtmemektedir söylemiyor söylenmiyor açıklanmamış açıklanmamıştır açıklanmıyor açıklamıyor "
        "açıklamamaktadır değinmiyor değinilmiyor değinilmemiş değinilmemiştir anlaşılmıyor anlaşılmamaktadır yazmıyor "
        "bilinmiyor bilinmemektedir belirsiz belirsizdir dışında dışındadır imkansız imkansızdır zor yetersiz "
        "yetersizdir"
    ),
    limit_cues=words("yalnızca sadece"),
    openers=words(
        "merhaba merhabalar selam iyi günaydın teşekkür teşekkürler sorunuz çok bu güzel harika tabii elbette evet "
        "tamam memnuniyetle rica anladım kesinlikle karışıklık verdiğim verdiğimiz özür üzgünüm kusura başka daha "
        "herhangi ek size nasıl yardımcı lütfen müşteri destek bizimle bize saygılarımla kolay umarım unutmayın "
        "bilgiler fiyatlar koşullar sonuçlar durumunuza yanılıyor yanılabilirim bildiğim özetle özet kısaca sonuç "
        "yanıt cevap not işte belgelere belgeye bağlama metne kaynaklara verilen sağlanan bir her rahatsızlık maalesef "
        "sormaktan"
    ),
    refusing=pattern(
        # the speaker
        r"\b(?:bilmiyorum|bilemiyorum|bilemem)\b|\b(?:bilgim|fikrim|erişimim|cevabım|yanıtım) (?:\w+ )?(?:yok|"
        r"bulunmuyor|bulunmamaktadır)\b",
        r"\b(?:bilgiye|bilgilere|bilgiler|verilere|erişime|bilgisine) (?:\w+ )?sahip değil(?:im|iz)\b|\bemin değilim\b",
        r"\b(?:yanıtlay|cevaplay|(?:yanıt|cevap|bilgi|öneri|tavsiye|öğüt|tavsiyesi|görüş) (?:\w+ )?ver|yardımcı ol|"
        r"yardım ed|söyley|belirley|paylaş|"
        rf"bilgi sun|doğrulay|teyit ed)[ae]m{_ENDS}\b",
        rf"\b(?:{_INFORMATION}|hiçbir şey|bir şey|sonuç)(?: \w+){{0,3}} bulam(?:adım|adık|ıyorum)\b",
        r"\b(?:uzmanlık|bilgi|görev|yetki|kapsamım)\w*(?: \w+){0,2} dışında(?:dır)?\b(?=[.!]|$| kal)",
        # the documents
        rf"\b{_TEXT}\b[^.;]{{0,90}}?\b(?:{_SAY}|bulam(?:adım|adık|ıyorum))\b",
        rf"\b{_INFORMATION}(?:(?: \w+){{0,4}} {_MISSING}|(?: \w+)? (?:içermiyor|içermemektedir|vermiyor|vermemektedir|"
        rf"sunmuyor))\b|\b{_INFORMATION} (?:da |de |maalesef |henüz )?yok(?:tur)?\b",
        r"^(?:\w+ ){0,5}?(?:belirtilmemiş(?:tir)?|bilinmiyor|bilinmemektedir|açıklanmamış(?:tır)?|belirsiz(?:dir)?|"
        r"belli değil)[.!]?$",
        r"\b(?:yanıtlamak|cevaplamak|söylemek|belirlemek|yanıt vermek|cevap vermek|bir şey söylemek)(?: \w+){0,2} "
        r"(?:mümkün değil(?:dir)?|imkansız(?:dır)?|zor)\b",
        rf"\b{_INFORMATION} (?:\w+ ){{0,3}}?yetersiz(?:dir)?(?:$|[.!])|\b(?:yeterli|yeterince) {_INFORMATION}(?: "
        r"\w+){0,3} "
        r"(?:yok(?:tur)?|değil(?:im|dir)?)\b",
    ),
    limit=pattern(
        r"\b(?:yalnızca|sadece)\b[^.;\d]{0,80}?\b(?:yardımcı olabilirim|yanıtlayabilirim|cevaplayabilirim|(?:yanıt|"
        r"cevap|bilgi) verebilirim|bilgim var|bilgiye sahibim|bilgilere sahibim|erişimim var)\b"
    ),
    fact=pattern(
        r"\b(?:gerekmez|gerekmiyor|gerekmemektedir|gerek yok(?:tur)?|gerekli değil(?:dir)?|zorunlu değil(?:dir)?|"
        r"üçüncü (?:şahıs|kişi|taraf)\w*)\b",
        r"\b(?:kişisel veri|kişisel bilgi|gizli bilgi|hassas veri|hassas bilgi)\w*\b(?!.*\b(?:hakkında|ilişkin|sahip|"
        r"paylaş\w+|ver[ae]m\w+)\b)",
        r"^(?:eğer)\b(?:(?!, (?:maalesef|bilmiyorum)\b).)*$",
    ),
    courtesy=whole(
        r"merhaba(?:lar)?|selam(?:lar)?|iyi (?:günler|akşamlar)(?: dilerim)?|günaydın",
        r"(?:sorunuz için |ilginiz için |çok |bize ulaştığınız için )*teşekkür(?:ler| eder\w+)(?: ederim)?",
        r"(?:tabii(?: ki)?|elbette|evet|tamam|memnuniyetle|rica ederim|anladım|kesinlikle)",
        r"(?:bu )?(?:çok )?(?:iyi|güzel|harika) (?:bir )?soru",
        r"(?:\w+ ){0,4}?(?:için )?(?:özür dilerim|özür dileriz|çok üzgünüm|üzgünüm)|kusura bakmayın",
        r"(?:başka|daha fazla|herhangi bir|ek) [^.;\d]{0,60}(?:soru|yardım|bilgi)\w*[^.;\d]{0,60}(?:sorabilir\w*|"
        r"çekinmeyin|bildirin|ulaşabilir\w*|buradayım|yardımcı olabilirim|olabilir miyim|olursa|varsa|haber "
        r"verin)[^.;\d]{0,60}|sormaktan çekinmeyin",
        r"(?:size )?(?:başka )?(?:nasıl|bir konuda|başka bir konuda) (?:\w+ )?yardımcı olabilir(?:im| miyim)|başka "
        r"(?:bir )?(?:konuda|sorunuz|isteğiniz)[^.;\d]{0,50}",
        r"(?:size )?yardımcı olmaktan (?:mutluluk|memnuniyet) duyarım",
        r"(?:lütfen )?(?:daha fazla bilgi için )?(?:müşteri hizmetleri|destek|bizimle|bize|"
        r"yetkili)\w*[^.;\d]{0,40}(?:iletişime geçin\w*|başvurun\w*|ulaşın\w*)",
        r"saygılarımla|kolay gelsin|iyi şanslar|lütfen (?:sorunuzu )(?:\w+ ){0,3}(?:netleştir\w+|açıkla\w+|belirt\w+|"
        r"yeniden ifade ed\w+)",
    ),
    hedge=whole(
        r"umarım (?:bu )?(?:\w+ )?(?:yardımcı|faydalı|işinize)[^.;:\d]{0,40}",
        r"(?:lütfen )?(?:unutmayın ki |not: )?(?:bu|bu bilgiler|bilgiler|fiyatlar|koşullar|sonuçlar|durum)(?: "
        r"\w+){0,4} (?:değişebilir|farklılık gösterebilir|değişiklik gösterebilir)(?:,? unutmayın)?",
        r"(?:bu )?(?:\w+ )?durumunuza (?:göre değişir|bağlıdır)|(?:yanılıyor olabilirim|yanılabilirim)|bildiğim "
        r"kadarıyla(?:,? bu doğru(?:dur)?)?",
        r"özetle|özet|kısaca|sonuç olarak|yanıt|cevap|not|işte (?:\w+ ){0,3}(?:özet|özeti|yanıt|cevap|bilgiler|adımlar|"
        r"liste)\w*",
        rf"(?:verilen |sağlanan |sunulan )?{_TEXT} (?:göre|dayanarak)(?:,? işte[^.;:\d]{{0,40}})?",
        r"(?:lütfen )?(?:her zaman )?(?:bir )?(?:uzman|doktor|avukat)\w* danış\w+[^.;:\d]{0,20}",
    ),
    apology=whole(r"(?:çok )?üzgünüm|özür dilerim|kusura bakmayın|maalesef"),
    lead=pattern(
        r"[\W_]*(?:(?:çok )?üzgünüm|maalesef|ne yazık ki|özür dilerim|kusura bakmayın|ancak|ama|fakat|hayır(?=,)|evet|"
        r"ve|ayrıca|bu nedenle|şu anda|dürüst olmak gerekirse|merhaba)\b[\W_]*"
    ),
    border=pattern(
        r"[,;:–—-]+ (?:ama|ancak|fakat|oysa|buna karşın)\b ?",
        r"; |[–—] | - | ama | ancak | fakat ",
    ),
    concessive=pattern(r"[\W_]*(?:her ne kadar|gerçi)\b"),
    aside=pattern(
        rf"{upto(2)}{_TEXT} (?:\w+ ){{0,3}}?(?:yalnızca|sadece)\b",
        r"(?:ben )?(?:yalnızca|sadece)\b",
        r"(?:lütfen|dilerseniz|isterseniz|daha fazla bilgi|ayrıntılı bilgi|bir uzman)\b|(?:müşteri hizmetleri|destek "
        r"ekibi)\w*\b",
        r"(?:eğer )?(?:bana )?daha fazla (?:ayrıntı|bilgi) (?:verir|paylaşır|sağlar)\w*\b|(?:soru|sorunuz)\b",
    ),
    report=pattern(
        rf"{upto(2)}{_TEXT} (?:\w+ ){{0,6}}?(?:bahsed|bahsetmekte|belirtilmekte|belirtiyor|açıklıyor|anlat|"
        r"içeriyor|söz ed)"
    ),
)
