from monitor.web.base.access import Identity, Permission, Role


def test_an_identity_may_what_its_role_may():
    ada = Identity(name="token:ada", role=Role.OPERATOR)
    assert ada.may(Permission.ACT)
    assert not ada.may(Permission.AUDIT)


def test_an_administrator_may_everything_and_all_people_may_view():
    assert all(Role.ADMIN.may(permission) for permission in Permission)
    assert all(role.may(Permission.VIEW) for role in Role if role is not Role.COLLECT)


def test_a_chatbot_may_send_and_nothing_else():
    assert {permission for permission in Permission if Role.COLLECT.may(permission)} == {Permission.COLLECT}
