"""The type of a wording: how one language words a refusal, a courtesy and a hedge.

Patterns are matched against text in lower case, with straight apostrophes, simplified Chinese characters and quotations
blanked. They are written with plain spaces; `pattern` makes each match any white space. Every gap is bounded, so that
the time for a sentence is bounded by its length, which `refusal.py` also bounds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Characters of the wordings as written in Taiwan and Hong Kong, and their simplified forms. Japanese shares some of
# them, so its patterns go through the same table as the text.
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
    """The text with the characters of the table replaced one by one."""
    return text.translate(_TO_SIMPLIFIED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The wording of one language.

    `refusing` is searched in a clause: the speaker does not answer, or the documents do not. So is `limit`: the
    speaker names the only thing that it can do or knows ("I can only help with returns"), which refuses if nothing
    else is said.
    `fact` is searched in the same clause and overrules both: a statement of fact in the words of a refusal.
    `courtesy`, `hedge` and `apology` must match a sentence or clause from end to end; an apology is a courtesy that
    refuses if nothing else is said. `lead` is matched repeatedly at the head of a clause and skipped.
    `border` is the end of a clause up to the start of the next; `concessive` is matched at the head of a sentence
    whose first clause concedes ("although …") and ends at its comma. `aside` is matched at the head of a clause that
    answers nothing next to a refusal: what the documents cover instead, whom else to ask. `report` is matched at the
    head of a clause about what the documents do say.

    `cues` holds a word (in languages without spaces: a piece of text) of every refusing clause, most of them negations,
    `limit_cues` one of every limit, `openers` the first word (or piece) of every courtesy, hedge and apology. Most
    sentences need no search beyond these.
    """

    code: str
    cues: frozenset[str]
    limit_cues: frozenset[str]
    openers: frozenset[str]
    refusing: re.Pattern[str]
    limit: re.Pattern[str]
    fact: re.Pattern[str]
    courtesy: re.Pattern[str]
    hedge: re.Pattern[str]
    apology: re.Pattern[str]
    lead: re.Pattern[str]
    border: re.Pattern[str]
    concessive: re.Pattern[str]
    aside: re.Pattern[str]
    report: re.Pattern[str]


def pattern(*alternatives: str, begins: str = "") -> re.Pattern[str]:
    """One pattern of the alternatives, in which a space matches any white space.

    `begins` is a condition that holds wherever an alternative matches: a search tries them nowhere else.
    """
    return re.compile(_spaced(f"{begins}(?:{'|'.join(f'(?:{a})' for a in alternatives)})"))


def whole(*alternatives: str) -> re.Pattern[str]:
    """One pattern of the alternatives for a whole sentence, ignoring punctuation before and after it."""
    joined = "|".join(f"(?:{a})" for a in alternatives)
    return re.compile(_spaced(rf"[\W_]{{0,8}}(?:{joined})[\W_]{{0,8}}"))


def _spaced(written: str) -> str:
    return simplified(written).replace(" ?", r"\s*").replace(" ", r"\s+")


def upto(most: int) -> str:
    """A pattern for up to `most` words, each with the space after it."""
    return rf"(?:[\w'-]+,? ){{0,{most}}}"


def words(text: str) -> frozenset[str]:
    """The words of a list that is written for people."""
    return frozenset(simplified(text).split())
