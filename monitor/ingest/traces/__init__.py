"""From the spans of traces to the turns of a chatbot. In: requests of OTLP, or spans. Out: turns, or why there is none.

`turns` is the flow on one screen. Bytes become spans in `otlp`; spans with one id a forest in `trace`. `conventions`
reads single spans, each as a `Step`; `assembly` finds in the steps of a trace the question, documents and answer of its
`turn`, which `event` writes as a native event. `arrival` tells of one span, before its trace is whole, what it means
for the trace.
"""
