"""In: claims, answers with their documents. Out: how likely each says something that its documents do not carry.

The models are stronger than the default and come from the user: token classifiers or NLI cross-encoders, as ONNX files.
"""
