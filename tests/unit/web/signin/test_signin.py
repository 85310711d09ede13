import pytest

from monitor.web.base.page import local_path
from monitor.web.signin.signin import _network


@pytest.mark.parametrize("path", ["/", "/alerts", "/interactions/a/b%2Fc?x=1#y", "/ä"])
def test_our_own_paths_are_gone_on_to(path):
    assert local_path(path) == path


@pytest.mark.parametrize(
    "path", [None, "", "alerts", "//evil", "/\\evil", "https://evil", "/\tevil", "/\nevil", "\\/evil"]
)
def test_nothing_else_is(path):
    assert local_path(path) == "/"


def test_a_house_has_one_limit_however_many_addresses_it_has():
    assert _network("2001:db8:1:2::7") == _network("2001:db8:1:2:ffff::8") != _network("2001:db8:1:3::7")
    assert _network("192.0.2.7") == "192.0.2.7"
    assert _network("testclient") == "testclient"
