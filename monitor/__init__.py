"""Watches chatbots built on retrieval-augmented generation: every answer scored, judged, stored and alerted on."""
