#!/usr/bin/env python3
"""The lint itself, tried on code that it must refuse and code that it must let pass."""

import sys
import unittest

sys.dont_write_bytecode = True
from lint import breaches  # noqa: E402


def rules(path, text):
    return [b.rsplit("[", 1)[1].rstrip("]") for b in breaches(path, text)]


class Layers(unittest.TestCase):
    def test_down_is_allowed(self):
        for path, header in [
            ("src/recipes/a.cpp", "client/core.hpp"),
            ("src/client/a.cpp", "driver/driver.hpp"),
            ("src/drivers/redis/a.cpp", "drivers/redis/codec.hpp"),
            ("src/drivers/redis/a.cpp", "base/url.hpp"),
            ("src/driver/registry.cpp", "drivers/redis/redis.hpp"),
            ("tests/unit/a.cpp", "client/core.hpp"),
        ]:
            self.assertEqual(rules(path, f'#include "{header}"'), [], path)

    def test_up_and_across_are_not(self):
        for path, header in [
            ("src/base/a.hpp", "driver/driver.hpp"),
            ("src/driver/a.cpp", "drivers/sqlite/open.hpp"),
            ("src/drivers/redis/a.cpp", "drivers/sqlite/open.hpp"),
            ("src/drivers/redis/a.cpp", "client/core.hpp"),
            ("src/client/a.cpp", "drivers/redis/redis.hpp"),
            ("src/client/a.cpp", "recipes/mutex.hpp"),
            ("src/recipes/a.cpp", "driver/driver.hpp"),
            ("cli/a.cpp", "client/core.hpp"),
        ]:
            self.assertEqual(rules(path, f'\n#include "{header}"'), ["layers"], path)

    def test_base_knows_nothing_of_locks(self):
        self.assertEqual(rules("src/base/a.hpp", "#include <holdfast/error.hpp>"), [])
        self.assertEqual(rules("src/base/a.hpp", "#include <holdfast/lease.hpp>"), ["layers"])


class Public(unittest.TestCase):
    def test_headers(self):
        allowed = "#include <vector>\n#include <stop_token>\n#include <holdfast/lease.hpp>"
        self.assertEqual(rules("include/holdfast/a.hpp", allowed), [])
        self.assertEqual(rules("include/holdfast/asio.hpp", "#include <boost/asio/async_result.hpp>"), [])
        for bad in ("<boost/asio/async_result.hpp>", "<sqlite3.h>", '"base/url.hpp"', "<sys/types.h>"):
            self.assertEqual(rules("include/holdfast/a.hpp", f"#include {bad}"), ["public"], bad)


class CoAwait(unittest.TestCase):
    def refuse(self, body):
        self.assertIn("co_await", rules("src/client/a.cpp", f"awaitable<void> f(int x) {{ {body} }}"), body)

    def allow(self, body):
        self.assertEqual(rules("src/client/a.cpp", f"awaitable<void> f(int x) {{ {body} }}"), [], body)

    def test_refused(self):
        self.refuse("co_await g([x] { return x; });")
        self.refuse("co_await g([&](int y) { use(y); });")
        self.refuse("co_await co_spawn(ex, [x]() -> awaitable<void> { co_return; }, use_awaitable);")
        self.refuse("co_await async_initiate<void()>([this](auto h) { h(); }, use_awaitable);")
        self.refuse("co_await g(Options{.ttl = 5s});")
        self.refuse("co_await g({});")
        self.refuse("co_await g({1, 2});")
        self.refuse("co_await Object{}.m();")
        self.refuse("co_await g(std::array<std::string, 2>{a, b});")
        self.refuse("Agg a{f(co_await g()), p};")
        self.refuse("if (x) { auto r = co_await g(Agg{x}); use(r); }")
        self.refuse("if (co_await g(Agg{x})) { }")
        self.refuse("for (;;) { co_await g(Agg{x}); }")
        self.refuse("auto r = h(co_await g(), Agg{x});")
        self.refuse("auto task = [x]() -> awaitable<void> { co_await g(Agg{x}); };")
        self.refuse("co_return co_await g([x] {});")

    def test_allowed(self):
        self.allow("Options o{.ttl = 5s}; co_await g(std::move(o));")
        self.allow("auto job = [x] { return x; }; co_await g(job);")
        self.allow("auto call = g(Agg{x}); co_await std::move(call);")
        self.allow("if (x) { use(Agg{x}); } co_await g(x);")
        self.allow("co_await g([](int y) { return y; });")
        self.allow("co_await g(table[x], table[y]);")
        self.allow("co_await g(x); // {x}\n const char* s = \"co_await g({})\";")
        self.allow("while (co_await g(x)) { use(Agg{x}); }")
        self.allow("for (const auto& y : co_await g()) { use([y] {}); }")
        self.allow("auto task = [x]() -> awaitable<void> { co_await g(x); };")
        self.allow("co_spawn(ex, [x]() -> awaitable<void> { co_await g(x); co_return; }, detached);")
        self.allow("// co_await-ok: an empty tag\n co_await g(Tag{});")
        self.allow("auto n = 1'000'000; co_await g(n); use(Agg{n});")
        self.allow("switch (x) { case 1: { co_await g(); break; } default: use(Agg{x}); }")
        self.allow("try { co_await g(); } catch (const std::exception& e) { use(Agg{e}); }")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
