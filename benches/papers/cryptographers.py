#!/usr/bin/env python3
"""Writes the dining cryptographers of Raimondi and Lomuscio (2005), section 5.2.1, to the letter.

Usage: cryptographers.py N [--liar]

The Environment has one local state for each payer and each result of the N coin tosses; they never change. A
cryptographer has 27 local states: whether the two coins it sees are equal, whether it pays, and whether the
number of "different" utterances is even, each of which may still be unknown. The paper describes the states and
actions; it leaves the evolution to a file that is no longer available, so the evolution here is ours. With
--liar the first cryptographer may say the opposite of what it should, and is red from then on (DIS_DC2).
"""

import argparse
from itertools import product

COINS = ["unseen", "equal", "different"]
PAYS = ["unasked", "pays", "free"]
SUMS = ["silent", "even", "odd"]


def state(coins, pays, total):
    return f"{coins}_{pays}_{total}"


def said(coins, pays):
    """What an honest cryptographer says: the opposite of what it sees if it pays."""
    return coins if pays == "free" else {"equal": "different", "different": "equal"}[coins]


def any_of(conditions):
    return " or\n      ".join(conditions)


def environment(n):
    """The local states of the Environment: a payer, 0 for the NSA, and the coins."""
    return [(payer, coins) for payer in range(n + 1) for coins in product("HT", repeat=n)]


def place(payer, coins):
    return f"payer{payer}_{''.join(coins)}"


def write_environment(n):
    names = [place(*each) for each in environment(n)]
    print("Agent Environment")
    print(f"  Lstate = {{{', '.join(names)}}};")
    print("  Action = {none};")
    print("  Protocol:")
    for name in names:
        print(f"    {name} : {{none}};")
    print("  end Protocol")
    print("  Ev:\n  end Ev\nend Agent\n")


def write_cryptographer(i, n, lies):
    states = [state(*each) for each in product(COINS, PAYS, SUMS)]
    red = [f"{state(*each)}_lied" for each in product(COINS[1:], PAYS[1:], SUMS[1:])] if lies else []
    print(f"Agent C{i}")
    print(f"  Lstate = {{{', '.join(states + red)}}};")
    print(f"  Lgreen = {{{', '.join(states)}}};")
    print("  Action = {nothing, equal, different};")
    print("  Protocol:")
    for coins, pays, total in product(COINS, PAYS, SUMS):
        speaks = coins != "unseen" and pays != "unasked" and total == "silent"
        actions = ["nothing"] if not speaks else ["equal", "different"] if lies else [said(coins, pays)]
        print(f"    {state(coins, pays, total)} : {{{', '.join(actions)}}};")
    for name in red:
        print(f"    {name} : {{nothing}};")
    print("  end Protocol\n  Ev:")
    for coins, pays in product(COINS[1:], PAYS[1:]):
        # The coin of cryptographer i lies between it and the next one.
        seen = [
            f"Environment.Lstate = {place(payer, tossed)}"
            for payer, tossed in environment(n)
            if (payer == i) == (pays == "pays")
            and (tossed[i - 1] == tossed[i - 2]) == (coins == "equal")
        ]
        print(f"    {state(coins, pays, 'silent')} if Lstate = {state('unseen', 'unasked', 'silent')} and (")
        print(f"      {any_of(seen)});")
    for coins, pays, total in product(COINS[1:], PAYS[1:], SUMS[1:]):
        for is_lie in [False, True] if lies else [False]:
            spoken = [
                words
                for words in product(["equal", "different"], repeat=n)
                if (words.count("different") % 2 == 1) == (total == "odd")
                and (not lies or (words[i - 1] != said(coins, pays)) == is_lie)
            ]
            heard = [
                "(" + " and ".join(f"C{k + 1}.Action = {word}" for k, word in enumerate(words)) + ")"
                for words in spoken
            ]
            target = state(coins, pays, total) + ("_lied" if is_lie else "")
            print(f"    {target} if Lstate = {state(coins, pays, 'silent')} and (")
            print(f"      {any_of(heard)});")
    print("  end Ev\nend Agent\n")


def write_rest(n, lies):
    def states_of(i, holds):
        suffixes = ["", "_lied"] if lies and i == 1 else [""]
        return [
            f"C{i}.Lstate = {state(*each)}{suffix}"
            for each in product(COINS, PAYS, SUMS)
            for suffix in suffixes
            if holds(each) and (not suffix or "un" not in each[0] + each[1] and each[2] != "silent")
        ]

    everyone = range(1, n + 1)
    print("Evaluation")
    for i in everyone:
        print(f"  paid{i} if {any_of(states_of(i, lambda each: each[1] == 'pays'))};")
    for total in SUMS[1:]:
        heard = [f"({any_of(states_of(i, lambda each: each[2] == total))})" for i in everyone]
        print(f"  {total} if {' and '.join(heard)};")
    print("end Evaluation\n")
    print("InitStates")
    print("  " + " and ".join(f"C{i}.Lstate = {state('unseen', 'unasked', 'silent')}" for i in everyone) + ";")
    print("end InitStates\n")
    print(f"Groups\n  all = {{{', '.join(f'C{i}' for i in everyone)}}};")
    if lies:
        print(f"  others = {{{', '.join(f'C{i}' for i in everyone if i != 2)}}};")
    print("end Groups\n")
    print("Formulae")
    if lies:
        write_liar_formulas(n)
    else:
        write_honest_formulas(n)
    print("end Formulae")


def one_of(members):
    return " or ".join(f"paid{i}" for i in members)


def anonymous(knows, members):
    """Some member pays, and it is not known which."""
    unknown = "".join(f" and !{knows}, paid{i})" for i in members)
    return f"{knows}, {one_of(members)}){unknown}"


def write_honest_formulas(n):
    everyone = range(1, n + 1)
    others = range(2, n + 1)
    print(f"  anonymous : (odd and !paid1) -> AX({anonymous('K(C1', others)}); -- expect: holds, [JAL05 s5.2.1]")
    print(f"  announced : ({one_of(everyone)}) -> AF(odd); -- expect: holds, [JAL05 s5.2.1]")
    free = " and ".join(f"!paid{i}" for i in everyone)
    print(f"  common : even -> AX(C(all, {free})); -- expect: holds, [JAL05 s5.2.1]")


def write_liar_formulas(n):
    others = [i for i in range(1, n + 1) if i != 2]
    print("  -- As printed: the paper says that the first fails and the second holds.")
    print(f"  printed_k : (odd and paid2) -> AX({anonymous('K(C2', others)}); -- expect: fails, [JAL05 s5.2.1]")
    print(f"  printed_kh : (odd and paid2) -> AX({anonymous('KH(C2, others', others)}); -- expect: fails, C2 pays itself")
    print("  -- As meant: the second cryptographer did not pay.")
    print(f"  meant_k : (odd and !paid2) -> AX({anonymous('K(C2', others)}); -- expect: fails, [JAL05 s5.2.1]")
    print(f"  meant_kh : (odd and !paid2) -> AX({anonymous('KH(C2, others', others)}); -- expect: holds, [JAL05 s5.2.1]")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n", type=int, metavar="N", help="number of cryptographers, 3 or more")
    parser.add_argument("--liar", action="store_true", help="the first cryptographer may lie (DIS_DC2)")
    arguments = parser.parse_args()
    n, lies = arguments.n, arguments.liar
    if n < 3:
        parser.error("there are at least three cryptographers")
    which = "DIS_DC2, in which the first may lie" if lies else "DIS_DC1"
    print(f"-- The {n} dining cryptographers of [JAL05 s5.2.1] to the letter: {which}.")
    print(f"-- {(n + 1) * 2 ** n} local states of the Environment, 27 of each honest cryptographer.")
    print(f"-- Written by benches/papers/cryptographers.py {n}{' --liar' if lies else ''}.")
    if not lies:
        print(f"-- expect states: {3 * (n + 1) * 2 ** n}")
    print()
    write_environment(n)
    for i in range(1, n + 1):
        write_cryptographer(i, n, lies and i == 1)
    write_rest(n, lies)


if __name__ == "__main__":
    main()
