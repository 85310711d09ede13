"""Removes personal data: erasure of single interactions, retention by age, and blanked quotations.

In: whom to erase; cut-off times.
Out: what was erased or removed, with an act in the audit trail for each.
"""
