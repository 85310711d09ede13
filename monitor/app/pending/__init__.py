"""Workers for what was left undone with the event. In: claims on the pending queue.

Out: assessments, sidecar support and judgements, stored late.
"""
