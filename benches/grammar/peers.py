"""Times a peer's masks on the documents of a work file: peers.py llguidance|xgrammar WORK.json.

Prints one JSON object like the native measurement's: times in microseconds, of each step the median of some repetitions.
The masks go straight into a buffer, so that Python adds little; what a call costs that does nothing is taken off.
"""

import json
import statistics
import sys
import time
from unittest.mock import MagicMock

REPEATS = 9

# Once a document has taken so many seconds it is not repeated.
ENOUGH = 2.0


def main() -> None:
    peer, path = sys.argv[1:]
    with open(path, "rb") as file:
        work = json.load(file)
    pieces = [bytes.fromhex(piece) for piece in work["pieces"]]
    engine = {"llguidance": LlGuidance, "xgrammar": XGrammar}[peer](pieces, work["control"], work["eos"])
    print(json.dumps({"tokens": len(pieces), "rows": [row(engine, case) for case in work["cases"]]}))


def row(engine, case: dict) -> dict:
    compile_times, fresh, reused = [], [], []
    empty = {"p50": 0, "p99": 0, "max": 0}
    try:
        for document in case["documents"]:
            steps = [[[] for _ in document] for _ in range(2)]
            end = time.monotonic() + ENOUGH
            for repeat in range(REPEATS):
                if repeat > 0 and time.monotonic() > end:
                    break
                begun = time.perf_counter_ns()
                grammar = engine.compile(case["grammar"])
                compile_times.append((time.perf_counter_ns() - begun) / 1e3)
                for kind in range(2):
                    matcher = engine.matcher(grammar)
                    for step, token in enumerate(document):
                        begun = time.perf_counter_ns()
                        engine.mask(matcher)
                        steps[kind][step].append((time.perf_counter_ns() - begun) / 1e3)
                        if not engine.accept(matcher, token):
                            raise ValueError(f"refuses step {step} of a document")
            fresh += [statistics.median(times) for times in steps[0]]
            reused += [statistics.median(times) for times in steps[1]]
    except Exception as error:  # a peer that cannot do a grammar is no reason to stop
        return {"name": case["name"], "steps": 0, "note": str(error).splitlines()[0][:80], "fresh": empty, "reused": empty}
    return {
        "name": case["name"],
        "steps": len(fresh),
        "compile": statistics.median(compile_times),
        "fresh": quantiles(fresh),
        "reused": quantiles(reused),
    }


def quantiles(steps: list) -> dict:
    steps = sorted(max(0.0, step - OVERHEAD) for step in steps)
    at = lambda part: steps[-(-(len(steps) - 1) * part // 100)]
    return {"p50": at(50), "p99": at(99), "max": at(100)}


def overhead() -> float:
    nothing = lambda _: None
    times = []
    for _ in range(1000):
        begun = time.perf_counter_ns()
        nothing(None)
        times.append((time.perf_counter_ns() - begun) / 1e3)
    return statistics.median(times)


class LlGuidance:
    def __init__(self, pieces: list, control: list, eos: int):
        import llguidance
        import numpy
        from llguidance.gbnf_to_lark import any_to_lark

        class Tokens:
            eos_token_id, bos_token_id = eos, None
            # Control tokens are marked by a first byte that no text has.
            tokens = [b"\xff[%d]" % id if not piece else piece for id, piece in enumerate(pieces)]
            special_token_ids = control

            def __call__(self, text):
                return list(text if isinstance(text, bytes) else text.encode())

        self.llguidance, self.to_lark = llguidance, any_to_lark
        self.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokens()), n_vocab=len(pieces))
        self.buffer = numpy.zeros((len(pieces) + 31) // 32, dtype=numpy.int32)
        self.at, self.bytes = self.buffer.ctypes.data, self.buffer.nbytes

    def compile(self, text: str):
        grammar = self.to_lark(text)
        matcher = self.llguidance.LLMatcher(self.tokenizer, grammar)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher

    def matcher(self, grammar):
        grammar.reset()
        return grammar

    def mask(self, matcher) -> None:
        matcher.unsafe_compute_mask_ptr(self.at, self.bytes)

    def accept(self, matcher, token: int) -> bool:
        return matcher.consume_token(token)


class XGrammar:
    def __init__(self, pieces: list, control: list, eos: int):
        # Its Python side wants these packages, of gigabytes, for tensors and tokenizers that are not used here.
        for name in ["torch", "transformers", "triton"]:
            sys.modules.setdefault(name, MagicMock(Tensor=type("Tensor", (), {})))
        import numpy
        import xgrammar

        self.xgrammar = xgrammar
        info = xgrammar.TokenizerInfo(pieces, stop_token_ids=[eos])
        self.compiler = xgrammar.GrammarCompiler(info, cache_enabled=False, max_threads=1)
        self.buffer = numpy.zeros((1, (len(pieces) + 31) // 32), dtype=numpy.int32)

    def compile(self, text: str):
        return self.compiler.compile_grammar(text)

    def matcher(self, grammar):
        return self.xgrammar.GrammarMatcher(grammar)

    def mask(self, matcher) -> None:
        matcher.fill_next_token_bitmask(self.buffer)

    def accept(self, matcher, token: int) -> bool:
        return matcher.accept_token(token)


OVERHEAD = overhead()
main()
