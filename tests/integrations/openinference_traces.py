"""Sends traces with OpenTelemetry's exporter and OpenInference: `openinference_traces.py URL`.

Prints one JSON line per trace: its id, the compression of its request, and what was asked.
"""

import json
import logging
import sys

import openai
from openinference.instrumentation import using_attributes
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import stub_model

# Exporters report refused requests only in the log.
logging.basicConfig(level=logging.WARNING, stream=sys.stderr)


def run(url, compression, conversation):
    exporter = OTLPSpanExporter(endpoint=f"{url}/v1/traces", compression=compression)
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    instrumentor = OpenAIInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    client = openai.OpenAI(base_url=stub_model.start(), api_key="sk-x", max_retries=0)
    tracer = provider.get_tracer("app")

    def ask(question, model="m-1"):
        with using_attributes(session_id=conversation, user_id="ann"):
            with tracer.start_as_current_span("turn", attributes={
                    "session.id": conversation, "user.id": "ann", "input.value": question}) as span:
                with tracer.start_as_current_span("search", attributes={
                        "openinference.span.kind": "RETRIEVER",
                        "retrieval.documents.0.document.id": "d1",
                        "retrieval.documents.0.document.content": "x is y"}):
                    pass
                try:
                    answer = client.chat.completions.create(model=model, messages=[
                        {"role": "system", "content": "brief"},
                        {"role": "user", "content": f"Context: x is y. {question}"}])
                    span.set_attribute("output.value", answer.choices[0].message.content)
                except openai.APIStatusError:
                    pass
        print(json.dumps({"trace": format(span.get_span_context().trace_id, "032x"),
                          "conversation": conversation, "question": question, "model": model}))

    ask("What is x?")
    ask("No, that is wrong.")
    ask("boom", "err503")
    client.embeddings.create(model="e", input="secret")
    provider.shutdown()
    instrumentor.uninstrument()


run(sys.argv[1], Compression.NoCompression, "plain")
run(sys.argv[1], Compression.Gzip, "gzip")
