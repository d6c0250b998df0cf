"""ringfence prices: what models cost, and the user's own prices."""

import json

from harness import contains, each_identity, equal, lacks

ANY_IDENTITY = "Prices are printed for anybody."


def prices(t, *words):
    return t.run([t.ringfence, "prices", *words])


def test_every_model_is_listed_with_the_tables_date(t):
    result = prices(t)
    equal(result.code, 0, "exit status", result)
    contains(result.out, "as of 2026-", "the date")
    for name in ("claude-opus-5-5", "gpt-5.5", "gemini-2.5-pro", "above 272000"):
        contains(result.out, name, "the table")


def test_one_model_is_found_by_the_name_that_clients_use(t):
    result = prices(t, "anthropic/claude-sonnet-4-5-20250929", "--json")
    equal(result.code, 0, "exit status", result)
    (model,) = json.loads(result.out)["models"]
    equal((model["name"], model["tiers"][0]["input_nusd"]), ("claude-sonnet-4-5", 3000), "the model")


def test_an_unknown_model_is_told_and_never_free(t):
    result = prices(t, "gpt-99")
    equal((result.code, result.out), (1, ""), "exit status and output", result)
    contains(result.err, "'gpt-99' has no price, so requests are refused; add to ~/.config/ringfence/prices.txt: "
                         "model gpt-99 INPUT OUTPUT - - - ", "the message")
    contains(prices(t).out, "Requests for a model that is\nnot listed are refused", "the table")


def test_prices_of_ones_own_go_on_top(t):
    equal(prices(t, "gpt-99").code, 1, "without a file")
    t.at_home(".config/ringfence/prices.txt", "model gpt-99 1 2 - - 0.5\nmodel gpt-5.5 6 30 - - 1\n")
    equal(prices(t, "gpt-99").code, 0, "with a file")
    result = prices(t, "gpt-5.5")
    contains(result.out, "(yours)", "the replaced model")
    lacks(result.out, "above", "the replaced model: its tiers are gone")


def test_a_mistake_in_ones_own_prices_is_named_with_its_line(t):
    t.at_home(".config/ringfence/prices.txt", "\nmodel gpt-99 one two\n")
    result = prices(t)
    equal((result.code, result.out), (125, ""), "exit status and output", result)
    contains(result.err, "~/.config/ringfence/prices.txt:2: a model line needs a name and five prices", "the message")


@each_identity
def test_prices_that_others_can_write_are_refused(t):
    t.at_home(".config/ringfence/prices.txt", "model gpt-99 0 0 - - -\n", 0o666)
    result = prices(t)
    equal(result.code, 125, "exit status", result)
    contains(result.err, "others can write to", "the message")
