"""From the spans of traces to the turns of a chatbot. In: spans and log records. Out: turns, or why there is none."""
