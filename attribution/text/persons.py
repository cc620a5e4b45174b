"""Words by which people speak of themselves, and to each other, in several languages."""

from __future__ import annotations

import re

FIRST_PERSON = re.compile(
    r"""\b(?:I|my|me|mine|ours?|we|ich|mein\w*|mir|mich|wir|unser\w*
        |yo|mis?|conmigo|nosotr[oa]s|nuestr[oa]s?|je|j['’]|moi|m[oe]s|ma|mon|nous|notre|nos|eu|meus?|minhas?|noss[oa]s?
        |io|mi[oae]|miei|nostr[oaie])\b
      | ['’](?:m|ve)\b | 我|咱|私|僕|俺|나는|내가|저는|제가|\bя\b|\bмо[йяеиёюєїі]\w*|\bмені\b|\bмене\b|\bben(?:im)?\b
      | \b(?:mnie|mną|mój|moj\w{1,3}|nasz\w*|mam|jestem)\b | \w(?:łem|łam|liśmy|łyśmy|[aeu]ję)\b
      | \b(?:saya|aku|kami|kita|minä|minun|minulla)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Words by which people speak of themselves."""
SECOND_PERSON = re.compile(
    r"""\b(?:you|yours?|du|dir|dich|dein\w*|euch|euer|eure\w*|Ihnen|tú|tus?|ti|te|tuy[oa]s?|contigo|usted(?:es)?|vosotr[oa]s
        |vuestr[oa]s?|toi|ton|ta|tes|vous|votre|vos|você\w*|tua?s?|voi|vostr[oaie])\b
      | 你|您|あなた|君|당신|\bты\b|\bтеб[яе]\b|\bтво[йяеиёю]\w*|\bвы\b|\bвас\b|\bваш\w*|\bsen(?:in)?\b|\bsiz(?:in)?\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Words for the listener, such as ``you`` and ``your``."""
