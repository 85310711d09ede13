"""Watches chatbots built on retrieval-augmented generation: scores, judges, stores and reports every answer.

The map. Imports go down this list, never up; docs/develop/architecture.md walks through it.

    cli        what people type: one file or folder for each noun
    web        what people look at: pages and the JSON API, one folder for each noun
    app        use cases; `wiring/` alone chooses adapters; `background/` runs beside the events
    store      PostgreSQL: tables, and the reads and writes of each noun
    report     the weekly report and its charts
    probe      golden questions, asked on schedule: is the chatbot right, and how fast does a conversation get there
    review     labels by people; evaluation and calibration with them
    simulate   the made-up support bot, a Kafka broker for demos and tests, fakes
    alert      rules, methods, the life of an alert, notifications, receivers
    chunks     what of the retrieved documents is worth keeping, as a library for chatbots
    ingest     bytes to interactions: Kafka, files, dialects
    assess     interaction to assessment: `pipeline.py` shows the flow on one screen
    audit      the audit trail: canonical form, Merkle tree, signed notes, verifier
    privacy    masking, redaction, the retention policy
    client     a chatbot's side: hands over its answers; imports nothing else of the program
    core       nouns, ports, errors, retry, settings, text
"""
