"""Recognises answers that say no more than that the answer is unknown, in the everyday words of several languages."""

from __future__ import annotations

import re
from functools import lru_cache

from attribution.text.tokens import count

_MOST_WORDS = 40
"""The maximal number of words of a refusal; longer texts say something."""

_ENGLISH = r"""
      \b(?:i|we|it|they|one|nobody|you)\b[^.;!?]{0,20}?\b(?:do|does|did|can|could|am|are|is|was)?\s*
        (?:not|n[o']t|unable\s+to|cannot)\s+(?:be\s+)?(?:know|recall|remember|tell|say|answer|determine|sure|find
        |known)\w*
    | \b(?:do|does|did|can)(?:n['’]t|\s+not)\s+(?:know|recall|remember)\b
        (?=[^.;]{0,12}(?:$|[.;,!]|the\s+answer|this|that|it\b))
    | \bnot\s+(?:\w+\s+)?(?:known|mentioned|specified|stated|available|provided|answerable|discussed|recorded|given
        |enough)\b
    | \b(?:did|does|do|was|is|has|have)(?:n['’]t|\s+not|\s+never)\s+(?:been\s+)?
        (?:mention|specif|provide|state|discuss|say)\w*
    | \b(?:have|has|had|did)(?:n['’]t|\s+not|\s+never)\s+(?:ever\s+|yet\s+|actually\s+)?
        (?:(?:tell|told|give|given)\s+(?:me|us)|sa(?:y|id)|mention(?:ed)?|discuss(?:ed)?|brought\s+(?:it\s+)?up
        |talk(?:ed)?\s+(?:to\s+me\s+)?about|sp(?:eak|oken)\s+(?:to\s+me\s+)?(?:of|about)
        |share[d]?\s+(?:that|this|any|with\s+me|information|details?))\b
    | \bno\s[^.;!?]{1,40}?\s(?:has|have|had|was|were|is|are)\s+(?:ever\s+|yet\s+)?(?:been\s+)?
        (?:come\s+up|mentioned|discussed|specified|stated|recorded)\b
    | \bnever\s+(?:told\s+(?:me|us)|said|mentioned|discussed|talked\s+about|spoke\s+(?:of|about)|came\s+up)\b
    | \b(?:notes?|conversations?|messages?|chats?|context|memor(?:y|ies)|records?|history|texts?)\b[^.;!?]{0,12}?
        \b(?:do|does|did)(?:n['’]t|\s+not)\s+(?:\w+\s+)?(?:say|tell|mention|include|contain|cover|have|show|reveal
        |indicate)\b
    | \bno\s+(?:\w+\s+)?(?:information|mention|answer|record|data|memor\w+|evidence|details?|such|idea|clue|knowledge
        |notes?|trace|way\s+(?:to|of)\s+(?:know|tell|say)\w*)\b
    | \b(?:there\s+is|there['’]s|i\s+(?:have|see|find|found|know)|i['’]ve\s+got)\s+nothing\b
    | \bnothing\s+(?:is|was|has\s+been)\s+(?:said|known|mentioned|recorded|noted|stated|told)\b
    | \b(?:nothing|none\s+of\s+(?:what|the\s+things))\s+(?:that\s+)?you(?:['’]ve|\s+have)?\s+
        (?:sa(?:y|id)|told|tell|shared?|mentioned|wrote|written|gave|given)\b
    | \bnothing\s+in\s+(?:the|my|your|our|these)\s+(?:notes?|conversations?|messages?|chats?|memor\w+|context
        |records?)\b
    | \bmention(?:ed)?\b[^.;!?]{0,60}\bbut\s+(?:not|never|nothing)\b
    | \bonly\s+(?:know|have|heard|hear|remember|recall|see|find)\b[^.;!?]{0,60}[,;]\s*(?:but\s+)?(?:not|nothing)\s+
        (?:about|of|on)\b
    | \b(?:i\s+(?:do|did)(?:n['’]t|\s+not)\s+have)\s+(?:that|this|any|the|enough)\b
    | \b(?:i|we)\b[^.;!?]{0,12}?\b(?:not\s+able\s+to|unable\s+to|cannot|can['’]?t)\s+
        (?:provide|give|offer|share|supply)\b[^.;!?]{0,30}?\b(?:information|details?|data|answers?)\b
    | \b(?:hard|impossible)\s+to\s+(?:say|tell|know)\b
    | \b(?:unknown|unanswerable|undetermined|unspecified|cannot\s+be\s+(?:known|answered|determined)|insufficient)\b
    | ^\W*(?:n/?a|none|null|unclear|not\s+sure|no\s+idea)\W*$
"""
_GERMAN = r"""
      \b(?:weiß|wissen|weiss)\b[^.]{0,20}\bnicht\b | \bnicht\s+(?:bekannt|erwähnt|angegeben|beantwort\w+|genannt
        |hervor|sicher)
    | \bkeine?n?\s+(?:\w+\s+)?(?:information\w*|angabe\w*|ausk[uü]nft\w*|antwort|hinweis\w*|erinnerung\w*|ahnung
        |notiz\w*|eintr\w+)\b
    | \bnicht\s+in\s+der\s+Lage\b[^.;!?]{0,60}?\b(?:information\w*|angaben?|auskunft|antwort\w*|beantworten|sagen)\b
    | \b(?:nicht|nie|niemals|keine)\s+(?:die\s+)?Rede\b
    | \bunbekannt\b | \bnichts\s+(?:davon\s+|darüber\s+|dazu\s+)?(?:gesagt|erwähnt|erzählt|bekannt)\b
    | \b(?:hast|haben|wurde\w*)\b[^.;!?]{0,40}\b(?:nicht|nie|nichts)\b[^.;!?]{0,40}\b(?:gesagt|erzählt|erwähnt
        |genannt|verraten)\b
    | \b(?:mir|uns)\s+nur\b[^.;!?]{0,60}?\b(?:erzähl|gesagt|erwähn|gesproch)\w*[^.;!?]{0,40}?
        [,;]\s*(?:aber\s+)?(?:nie|nicht|kein)\w*
"""
_ROMANCE = r"""
      \bno\s+(?:lo\s+)?(?:sé|sabemos|recuerdo|consta)\b | \bno\s+se\s+(?:sabe|menciona|especifica|indica|dice
        |ha\s+\w+do)\b
    | \bno\s+(?:me\s+|nos\s+)?(?:has|ha|habéis|han|había\w*)\s+(?:mencionado|dicho|contado|hablado)\b
    | \bno\s+(?:me\s+)?(?:mencion|dij|contas|contó)\w*
    | \bno\s+(?:hay|tengo|dispongo\s+de|existe)\s+(?:\w+\s+)?(?:información|datos|mención|registro|constancia)\b
    | \bno\s+puedo\s+(?:decir|responder|saber)\b | \b(?:desconocid[oa]|desconozco)\b
    | \bn(?:e|['’])\s*(?:l[ea]\s+)?sais\s+pas\b | \bje\s+l['’]ignore\b | \bje\s+sais\s+pas\b
    | \bn['’](?:est|a|as|avez|ai)\s+(?:pas|jamais)\s+(?:été\s+)?(?:mentionn|précis|indiqu|dit|parl|connu|évoqu)\w*
    | \bne\s+(?:m|nous\s+|l)['’]?(?:as|avez)\s+(?:pas|jamais|rien)\s+(?:dit|parlé|mentionné)\b
    | \b(?:pas\s+d['’]|aucune?\s+)(?:information|mention|trace|donnée|indication)s?\b | \binconnue?s?\b
    | \bnão\s+(?:sei|sabemos|há\s+\w*\s*(?:informaç|menção|registro)|(?:foi\s+|me\s+)?(?:mencion|disse|contou
        |informad))\w*
    | \bnon\s+(?:lo\s+)?(?:so|sappiamo|ricordo)\b | \bnon\s+(?:è|hai|ha|mi\s+hai)\s+(?:stato\s+)?(?:menzion|detto
        |specific|parlat)\w*
    | \b(?:só|apenas|sólo|solo|solamente|únicamente)\s+(?:me|nos)\s+(?:\w+\s+)?
        (?:fal|diss|cont|mencion|habl|dij|dich)\w*[^.;!?]{0,60}?[,;]\s*(?:(?:mas|pero)\s+)?(?:não|nunca|nada|no|jamais)\b
    | \b(?:mi|ci)\s+hai\s+(?:(?:solo|soltanto)\s+)?(?:parlato|detto|raccontato)\b[^.;!?]{0,60}?[,;]\s*(?:ma\s+)?
        (?:non|mai|niente)\b
    | \bne\s+m['’](?:as|avez)\s+(?:parlé|dit)\s+que?\b[^.;!?]{0,60}?[,;]\s*(?:mais\s+)?(?:jamais|pas|rien)\b
    | \b(?:no|não|non)\s+(?:puedo|podemos|posso|consigo|possiamo|so(?:y|u)\s+capaz\s+de|estoy\s+en\s+condiciones\s+de
        |s(?:ono|iamo)\s+in\s+grado\s+di)\s+
        (?:responder|rispondere|dizer|dire|saber|sapere
        |(?:proporcionar|dar|ofrecer|facilitar|fornecer|oferecer|fornire|dare|offrire)\b[^.;!?]{0,30}?
            \b(?:informa[cçz]\w+|datos|dados|dati|detal\w+|dettagli\w*|respuestas?|respostas?|rispost[ae]))\b
    | \bne\s+(?:suis|sommes)\s+pas\s+en\s+mesure\s+d(?:e\s+|['’])(?:répondre|savoir|dire|donner|fournir|indiquer)\b
    | \bne\s+(?:peux|pouvons)\s+pas\s+(?:répondre|savoir|dire
        |(?:donner|fournir)\b[^.;!?]{0,30}?\b(?:information|réponse|détail|précision|donnée)s?)\b
    | \bnon\s+ci\s+sono\s+(?:informazioni|dati)\b | \bsconosciut[oa]\b
"""
_OTHERS = r"""
      不知道|不清楚|不确定|未知|没有(?:提到|提及|说|相关|任何|足够|信息|记录|告诉)|沒有提|没(?:提|说|告诉)过?|从未(?:提|说)
    | 无法(?:回答|确定|得知|判断)|未(?:提及|提到|说明)|从来没(?:有)?(?:提|说|告诉)
    | (?:分か|わか|解)り(?:ません|かねます)|(?:分か|わか)ら(?:ない|ず)|知りません|知らない|不明
    | (?:情報|記録|記憶|記載|言及|話)[がはも](?:ありません|ない|なく|されていません|されていない|見つかりません)
    | (?:聞いて|伺って|おっしゃって|言って|述べられて|言及されて|教えて(?:もらって)?)い(?:ません|ない)
    | 모르겠|모릅니다|몰라요|모른다|알\s?수\s?없|(?:정보|기록|언급)(?:이|가|은|는)?\s?없|확인할\s?수\s?없
    | (?:말씀|말|언급)(?:하신|한|하시|하|되)?\s?(?:적이\s?없|지\s?않)
    | ไม่ทราบ|ไม่รู้|ไม่มีข้อมูล|ไม่ได้(?:บอก|กล่าว|ระบุ|พูด|เล่า)|ไม่เคย(?:บอก|พูด|เล่า)|ไม่แน่ใจ
    | (?:पता|मालूम|जानकारी|उल्लेख|ज्ञात)\s?नहीं|नहीं\s?(?:पता|मालूम|जानत|बताया|कहा|ज्ञात)|अज्ञात
    | لا\s?(?:أعرف|أعلم|أدري|نعرف|يوجد\s?ذكر|توجد\s?معلومات)|لم\s?(?:تذكر|يذكر|تخبرن|تقل|يتم\s?ذكر|يرد)
        |غير\s?(?:معروف|مذكور|محدد)|ليس\s?لدي
    | \bне\s+(?:знаю|знаем|помню|известно|указан\w*|упомина\w*|упомянут\w*|уверен\w*)|\bнеизвестн\w*
    | \bнет\s+(?:\w+\s+)?(?:информации|данных|сведений|упоминани\w+|записей)
    | \b(?:вы|ты)\s+(?:\w+\s+){0,2}не\s+(?:говорил|рассказывал|упоминал|сообщал|сказал|рассказал)\w*
        |\bне\s+могу\s+(?:сказать|ответить|найти)
    | \bweet\s+(?:ik\s+)?(?:het\s+|dat\s+|dit\s+)?(?:helaas\s+)?niet\b | \bonbekend\b
    | \bniet\s+(?:\w+\s+)?(?:bekend|vermeld|genoemd|gezegd|verteld|aangegeven|besproken|beschikbaar|zeker)\b
    | \bgeen\s+(?:\w+\s+)?(?:informatie|antwoord|details|gegevens|idee|vermelding|aantekening\w*|notities?)\b
    | \bniets\s+(?:\w+\s+){0,2}?(?:bekend|vermeld|genoemd|gezegd|verteld)\b
    | \bkan\s+(?:\w+\s+){0,3}?niet\s+(?:beantwoorden|zeggen|weten|bepalen)\b
    | \b(?:bilmiyorum|bilinmiyor|hatırlamıyorum|bilmiyoruz|belirtilme\w+|bahsetme(?:di|mi)\w*|söyleme(?:di|mi)\w*
        |bahsedilme\w+)\b
    | \b(?:bilgi|kayıt|bilgim)\s+(?:yok|bulunm\w+)|\bemin\s+değilim\b
"""
_NORDIC = r"""
      \bv(?:et|ed|éd)\s+(?:\w+\s+)?(?:ikke|inte|ej)\b | \b(?:husker|minns|mins)\s+(?:\w+\s+)?(?:ikke|inte)\b
    | \b(?:ikke\s+no[en]\w*|ikke\s+nog[eo][nt]|inte\s+någo[nt]|inte\s+några|ingen|inga|inget|intet)\s+(?:\w+\s+)?
        (?:informa[st]\w+|opplysning\w*|oplysning\w*|uppgift\w*|minner?|hukommelse|notat\w*|note[rn]?|anteckning\w*
        |svar|data|aning|anelse|id[eé])\b
    | \b(?:ikke|inte|aldrig?)\s+(?:\w+\s+)?(?:nevnt|nævnt|nämnts?|fortalt|berättat|sagts?|oppgitt|oplyst|angivet|angitt
        |angetts|kjent|kendt|känt|bekant|registrert)\b
    | \b(?:ukjent|ukendt|okän[dt])\b
    | \b(?:en\s+(?:tiedä|muista|osaa\s+sanoa)|emme\s+tiedä|ei\s+(?:ole\s+)?(?:tiedossa|mainittu|kerrottu|tietoa)
        |ei\s+tiedetä)\b
"""
_EASTERN = r"""
      \bnie\s+(?:wiem|wiemy|pamiętam|wiadomo|podano|wspomni\w+|mówił\w*|powiedział\w*)\b | \bnieznan\w+
    | \b(?:nie\s+ma(?:m|my)?|brak)\s+(?:\w+\s+)?(?:informacji|danych|wzmianki|zapis\w*|notat\w+)\b
    | \b(?:nevím|nevíme|neviem|nevieme|nepamatuj\w+|nepamätám|neznám\w*)\b
    | \bnen[ií]\s+(?:\w+\s+)?(?:uveden\w*|známo|zmín\w+|nic)\b | \bnic\s+(?:není|nemám|nevím)\b
    | \bnemám\s+(?:\w+\s+)?(?:informac\w*|informáci\w*|údaj\w*|záznam\w*)\b
    | \bне\s+(?:знаємо|пам['’]ятаю|відомо|вказан\w*|згадан\w*|згадува\w*|зазначен\w*|знам|помня|е\s+известно)\b
    | \bневідом\w* | \bне\s+можу\s+(?:сказати|відповісти)
    | \b(?:немає|няма)\s+(?:\w+\s+)?(?:інформації|даних|відомостей|згад\w+|записів|информация|данни)\b
    | \bnem\s+(?:tudom|tudjuk|emlékszem|ismert|említ\w*|szerepel)\b | \bismeretlen\b
    | \bnincs\s+(?:\w+\s+)?(?:információ\w*|adat\w*|feljegyz\w*)\b
    | \bnu\s+(?:[șş]tiu|stiu|[șş]tim|îmi\s+amintesc|se\s+(?:[șş]tie|men[țţ]ion\w+|precizeaz\w+|specific\w+)
        |(?:este|e|a\s+fost)\s+(?:men[țţ]ionat|precizat|cunoscut|specificat)\w*)\b
    | \bnu\s+(?:am|există)\s+(?:\w+\s+)?(?:informa[țţ]i\w+|date)\b | \bnecunoscut\w*
    | \bδεν\s+(?:ξέρω|γνωρίζω|ξέρουμε|γνωρίζουμε|θυμάμαι|αναφέρ\w+|είναι\s+γνωστό|έχει\s+αναφερθεί)\b
    | \bδεν\s+(?:υπάρχ\w+|έχω)\s+(?:\w+\s+)?(?:πληροφορ\w+|αναφορ\w+|στοιχεία|σημείωσ\w+)\b | \bάγνωστ\w+
    | \b(?:tidak|nggak|tak)\s+(?:tahu|ingat|diketahui|disebutkan|ada\s+(?:informasi|data|catatan))\b
    | \bkhông\s+(?:biết|rõ|nhớ|có\s+(?:thông\s+tin|dữ\s+liệu|ghi\s+chú)|được\s+(?:nhắc|đề\s+cập))
    | לא\s+(?:יודע\w*|ידוע|זוכר\w*|צוין|הוזכר|נאמר)|אין\s+(?:לי\s+)?(?:מידע|נתונים|תיעוד)
    | نمی.?دان(?:م|یم)|اطلاعاتی?\s+(?:ندارم|نیست|موجود\s+نیست)|ذکر\s+نشده|(?:مشخص|معلوم)\s+نیست
"""
_REFUSAL = re.compile("|".join((_ENGLISH, _GERMAN, _ROMANCE, _OTHERS, _NORDIC, _EASTERN)), re.VERBOSE | re.IGNORECASE)


@lru_cache(maxsize=16)  # the same failure's texts are tested again and again
def refuses(text: str) -> bool:
    """Whether a text says no more than that the answer is unknown."""
    return count(text) <= _MOST_WORDS and bool(_REFUSAL.search(text.replace("’", "'")))
