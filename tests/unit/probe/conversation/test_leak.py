from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.probe.conversation.leak import LONGEST_LEAK, MOST_LEAKS, LeakGuard
from tests.rig.assess.timing import seconds
from tests.unit.probe.conversation.leak_cases import CASES, UNSEEN, Case

MISSED_WITHOUT_ENCODER = {
    "You get an e-mail with a hyperlink once you pressed it in the settings.",
    "Is it banned on the whole property?",
}
MISSED = {
    "The cabin light is bright red.",  # closer to the question than to "It is scarlet."
    "Das Rauchen ist wegen der Feuerversicherung überall verboten.",  # the encoder knows English only
}


@pytest.fixture(scope="module")
def encoder(encoder_cache):
    return MiniLMEmbedder(cache_dir=encoder_cache, threads=1)


def found(guard: LeakGuard, case: Case) -> tuple[str, ...]:
    return guard.in_question(case.text, reference=case.reference, allowed=[case.question, *case.said])


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.text}")
def test_cases_by_words_and_facts(case):
    missed = case.text in MISSED | MISSED_WITHOUT_ENCODER
    assert bool(found(LeakGuard(), case)) == (case.leaks and not missed)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.text}")
def test_cases_with_alignment(case, encoder):
    assert bool(found(LeakGuard(encoder), case)) == (case.leaks and case.text not in MISSED)


def rates(guard: LeakGuard, cases: tuple[Case, ...]) -> tuple[int, int, int, int]:
    """Leaks found, of so many; other texts taken for leaks, of so many."""
    leaking = [bool(found(guard, case)) for case in cases if case.leaks]
    free = [bool(found(guard, case)) for case in cases if not case.leaks]
    return sum(leaking), len(leaking), sum(free), len(free)


def test_rates_in_the_documentation(encoder):
    assert rates(LeakGuard(), CASES) == (22, 26, 0, 30)
    assert rates(LeakGuard(encoder), CASES) == (24, 26, 0, 30)
    assert rates(LeakGuard(), UNSEEN) == (12, 18, 0, 16)
    assert rates(LeakGuard(encoder), UNSEEN) == (18, 18, 1, 16)


def test_one_word_leaks_in_an_answer_but_not_in_a_question():
    given = {
        "reference": "Write to the ombudsman, enclose the invoice, a photo and the serial plate.",
        "allowed": ["How?"],
    }
    assert LeakGuard().in_question("Do I need the invoice?", **given) == ()
    assert LeakGuard().in_answer("Enclose it.", **given) == ("enclo",)


def test_twice_the_text_takes_no_more_than_some_twice_the_time():
    def checked(size):
        text, reference, shown = (" ".join(f"{word}{n}." for n in range(size)) for word in ("told", "kept", "seen"))
        return lambda: LeakGuard(HashEmbedder()).in_answer(text, reference=reference, allowed=["Which?", shown])

    once, twice = (min(seconds(checked(size)) for _ in range(2)) for size in (4_000, 8_000))
    assert twice < 3.2 * once


def test_inflections_of_allowed_words_are_allowed():
    given = {"reference": "It takes long.", "allowed": ["How long does it take?"]}
    assert LeakGuard().in_answer("Taking it takes long.", **given) == ()


@pytest.mark.parametrize(
    ("composed", "rewritten", "reference", "choices"),
    [
        ("It takes 14 days or 30 days.", "It takes 14 days.", "14 days", ("30 days",)),
        ("It takes 30 days; gladly.", "30 days.", "14 days", ()),
        ("It takes 14 days, call 555-1234.", "It takes 14 days.", "14 days", ()),
        ("Ask Ms Weber, or else Ms Roussel.", "Ask Ms Roussel.", "Madame Roussel", ("Ask Ms Weber",)),
        ("Room 12, I think, or room 48.", "Room 12, I think.", "Room 12", ("48",)),
        ("It is 3 May 2024 or 9 June 2024.", "It is 3 May 2024.", "2024-05-03", ("9 June 2024",)),
        ("You cannot return it.", "You can return it.", "Returns are allowed.", ("not",)),
        ("You can return it.", "Returning is not possible.", "No returns.", ("not",)),
        ("It is not possible, sorry.", "Not possible.", "No.", ()),
    ],
)
def test_a_rewriting_may_not_choose_by_the_reference(composed, rewritten, reference, choices):
    assert LeakGuard().choices(rewritten, composed=composed, reference=reference) == choices


def test_what_is_told_of_leaks_is_bounded():
    names = " ".join(f"Aa{chr(97 + n // 26)}{chr(97 + n % 26)}" * 9 for n in range(200))
    leaks = LeakGuard().in_answer(names, reference=names, allowed=["Who?"])
    assert len(leaks) == MOST_LEAKS
    assert max(map(len, leaks)) <= LONGEST_LEAK


@given(st.text(max_size=200), st.text(max_size=200))
def test_allowed_text_never_leaks(text, reference):
    guard = LeakGuard(HashEmbedder())
    assert guard.in_answer(text, reference=reference, allowed=[text, "Why?"]) == ()


@given(st.text(max_size=200))
def test_a_reference_that_is_allowed_holds_no_secret_words(text):
    assert LeakGuard().in_answer(f"{text}.", reference=text, allowed=[text]) == ()


def test_the_encoder_serves_one_thread_at_a_time():
    class Single(HashEmbedder):
        lock, most = Lock(), 0

        def encode(self, texts):
            assert self.lock.acquire(blocking=False)
            try:
                return super().encode(texts)
            finally:
                self.lock.release()

    guard = LeakGuard(Single())
    with ThreadPoolExecutor(8) as pool:
        asked = [
            pool.submit(
                guard.in_question, f"Is it {n} or so?" * 50, reference="Amber light.", allowed=["Which colour?"]
            )
            for n in range(64)
        ]
        assert all(future.result() == () for future in asked)


@pytest.mark.parametrize(
    "told", ["1\u200b4 days", "１４ days", "the Ky\u200boto office", "the Kуоto office", "Kyo\u00adto"]
)
def test_a_disguised_leak_is_a_leak(told):
    guard, reference = LeakGuard(), "A refund takes 14 days at the Kyoto office."
    assert guard.in_answer(f"It is {told}.", reference=reference, allowed=["How long does a refund take?"])


def test_what_is_allowed_in_disguise_is_allowed():
    allowed = ["Is it the Ky\u200boto office?"]
    assert LeakGuard().in_answer("It is the Kyoto office.", reference="The Kyoto office.", allowed=allowed) == ()
