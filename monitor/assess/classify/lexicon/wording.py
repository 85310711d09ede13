r"""How one language words a refusal, a courtesy and a hedge.

Patterns are looked for in lower case with straight apostrophes, simplified Chinese characters and what stands in
quotation marks blanked. They are written with plain spaces; `pattern` lets each stand for any white space. Every gap
is bounded, so that the time for a sentence is bounded by its length, which `refusal.py` bounds too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Chinese as written in Taiwan and Hong Kong: the characters that wordings use. Japanese shares some, so its patterns
# are put through the same table as the text.
_TRADITIONAL = (
    "沒無資訊內說確問題幫範圍電話業務產語聯繫對們個這來時間實際請謝歡應該關於據檢記載顯錄數選擇釋還則與為"
    "從後過當現報詢類給總結諒須僅響參閱體網頁認識錯誤開啟樣學點專處種號論寫讀"
)
_SIMPLIFIED = (
    "没无资讯内说确问题帮范围电话业务产语联系对们个这来时间实际请谢欢应该关于据检记载显录数选择释还则与为"
    "从后过当现报询类给总结谅须仅响参阅体网页认识错误开启样学点专处种号论写读"
)
_TO_SIMPLIFIED = str.maketrans(_TRADITIONAL, _SIMPLIFIED)


def simplified(text: str) -> str:
    """The text with the characters of the table replaced, one for one."""
    return text.translate(_TO_SIMPLIFIED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The wording of one language.

    `refusing` is searched for in a clause: it says that the speaker does not answer, or that the documents do not.
    `fact` is searched for in the same clause and overrules it: a statement of fact in the words of a refusal.
    `courtesy`, `hedge` and `apology` must match a sentence or clause from end to end; an apology is a courtesy which,
    when nothing else is said, refuses. `lead` is matched again and again at the head of a clause and passed over.
    `border` is where a clause ends, up to the start of the next; `concessive` is matched at the head of a sentence
    whose first clause concedes ("although …") and ends at its comma. `aside` is matched at the head of a clause that
    answers nothing beside a refusal: what the documents talk of instead, whom else to ask. `report` is matched at the
    head of a clause that says what the documents do say.

    `cues` holds a word (in languages without spaces: a piece of text) of every refusing clause, `openers` the first
    word (a piece) of every courtesy, hedge and apology: most sentences are done with after looking for those.
    """

    code: str
    cues: frozenset[str]
    openers: frozenset[str]
    refusing: re.Pattern[str]
    fact: re.Pattern[str]
    courtesy: re.Pattern[str]
    hedge: re.Pattern[str]
    apology: re.Pattern[str]
    lead: re.Pattern[str]
    border: re.Pattern[str]
    concessive: re.Pattern[str]
    aside: re.Pattern[str]
    report: re.Pattern[str]


def pattern(*alternatives: str) -> re.Pattern[str]:
    """One pattern of the alternatives, in which a space stands for any white space."""
    return re.compile(_spaced("|".join(f"(?:{a})" for a in alternatives)))


def whole(*alternatives: str) -> re.Pattern[str]:
    """The same for a whole sentence: marks before it and after it do not count."""
    joined = "|".join(f"(?:{a})" for a in alternatives)
    return re.compile(_spaced(rf"[\W_]{{0,8}}(?:{joined})[\W_]{{0,8}}"))


def _spaced(written: str) -> str:
    return simplified(written).replace(" ?", r"\s*").replace(" ", r"\s+")


def upto(most: int) -> str:
    """Up to so many words, each with the space after it."""
    return rf"(?:[\w'-]+,? ){{0,{most}}}"


def words(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(simplified(text).split())
