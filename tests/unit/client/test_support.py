"""What models send back for `SUPPORT_PROMPT`, whole and in pieces."""

from __future__ import annotations

import pytest

from monitor.client import SUPPORT_PROMPT, SupportStream, split_support

ANSWER = "You may return it within 30 days."
BLOCK = """<supporting_documents>
<quote>Returns are free for 30 days.</quote>
<quote>Keep the box.</quote>
</supporting_documents>"""
BOTH = ["Returns are free for 30 days.", "Keep the box."]
REPLIES = {
    "as asked": (f"{ANSWER}\n\n{BLOCK}\n", ANSWER, BOTH),
    "in a fence": (f"{ANSWER}\n\n```xml\n{BLOCK}\n```\n", ANSWER, BOTH),
    "in a fence without a language": (f"{ANSWER}\n```\n{BLOCK}\n```", ANSWER, BOTH),
    "before the answer": (f"{BLOCK}\n\n{ANSWER}", ANSWER, BOTH),
    "in other case": (f"{ANSWER}\n{BLOCK.upper()}", ANSWER, [text.upper() for text in BOTH]),
    "with a space in the tag": (f"{ANSWER}\n{BLOCK.replace('g_d', 'g d')}", ANSWER, BOTH),
    "twice": (f"{ANSWER}\n{BLOCK}\n{BLOCK}", ANSWER, BOTH),
    "missing": (f"{ANSWER}\n", ANSWER, None),
    "empty": (f"{ANSWER}\n<supporting_documents>\n</supporting_documents>", ANSWER, []),
    "the word none": (f"{ANSWER}\n<supporting_documents>\nNone\n</supporting_documents>", ANSWER, []),
    "cut within a quote": (f"{ANSWER}\n{BLOCK[: BLOCK.index(' box')]}", ANSWER, [BOTH[0], "Keep the"]),
    "cut within a closing tag": (f"{ANSWER}\n{BLOCK[: BLOCK.rindex('te>')]}", ANSWER, BOTH),
    "cut within the opening tag": (f"{ANSWER}\n<supporting_doc", ANSWER, None),
    "a JSON list": (f'{ANSWER}\n<supporting_documents>["Keep the box."]</supporting_documents>', ANSWER, BOTH[1:]),
    "objects": (
        f'{ANSWER}\n<supporting_documents>[{{"text": "Keep the box."}}]</supporting_documents>',
        ANSWER,
        BOTH[1:],
    ),
    "bullets": (f"{ANSWER}\n<supporting_documents>\n- {BOTH[0]}\n2. {BOTH[1]}\n</supporting_documents>", ANSWER, BOTH),
    "a quote with an attribute": (f"{ANSWER}\n{BLOCK.replace('<quote>', '<quote document=1>')}", ANSWER, BOTH),
    "a quote without end": (f"{ANSWER}\n{BLOCK.replace('</quote>', '')}", ANSWER, BOTH),
    "quotation marks": (
        f'{ANSWER}\n<supporting_documents><quote>"Keep the box."</quote></supporting_documents>',
        ANSWER,
        BOTH[1:],
    ),
    "escaped": (f"{ANSWER}\n{BLOCK.replace('<', '&lt;').replace('>', '&gt;')}", ANSWER, BOTH),
    "an answer with signs": ("Use a < b and <b>c</b>, then `x`.", "Use a < b and <b>c</b>, then `x`.", None),
    "an answer with code": ("Run:\n```sh\nls <dir>\n```\nDone.", "Run:\n```sh\nls <dir>\n```\nDone.", None),
    "nothing": ("", "", None),
}


@pytest.mark.parametrize("name", REPLIES)
def test_answer_and_support_are_told_apart(name):
    reply, answer, support = REPLIES[name]
    assert split_support(reply) == (answer, support)


@pytest.mark.parametrize("name", sorted(REPLIES.keys() - {"escaped"}))
@pytest.mark.parametrize("step", [1, 3, 7, 10_000])
def test_in_pieces_the_same_is_read_and_the_block_is_never_shown(name, step):
    reply, answer, support = REPLIES[name]
    stream = SupportStream()
    shown = [stream.feed(reply[at : at + step]) for at in range(0, len(reply), step)]
    text = "".join(shown) + stream.end()
    assert text.strip() == answer
    assert stream.supporting_documents == support


def test_what_may_be_shown_is_shown_at_once():
    stream = SupportStream()
    assert stream.feed("You may return it ") == "You may return it "
    assert stream.feed("within <") == "within "
    assert stream.feed("b>30</b>") == "<b>30</b>"


def test_a_reply_of_a_hundred_thousand_tags_is_read_in_no_time():
    for reply in (
        "<" * 100_000,
        "<quote>" * 20_000,
        "<supporting_documents>" + "<quote " * 100_000,
        BLOCK * 5_000,
        "```\n" * 50_000,
        "<supporting_documents>" * 20_000,
    ):
        split_support(reply)
        stream = SupportStream()
        stream.feed(reply)
        stream.end()


def test_the_prompt_shows_the_form_that_is_read():
    shown = SUPPORT_PROMPT[SUPPORT_PROMPT.index("<supp") : SUPPORT_PROMPT.index("Copy each")]
    assert split_support(shown) == ("", ["a passage of a document, copied word for word", "another passage"])


@pytest.mark.parametrize("size", [1, 5, 1_000])
@pytest.mark.parametrize("block", ["<supporting_documents><quote>a</quote></supporting_documents>", "<supporting_doc"])
def test_the_fence_that_ends_code_of_the_answer_stays(block, size):
    code = "So:\n```python\nprint(1)\n```"
    text = f"{code}\n\n{block}"
    assert split_support(text).answer == code
    stream = SupportStream()
    shown = "".join(stream.feed(text[i : i + size]) for i in range(0, len(text), size))
    assert (shown + stream.end()).strip() == code
