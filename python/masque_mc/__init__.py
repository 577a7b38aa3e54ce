"""Masque, a model checker for multi-agent systems: knowledge, time, norms and strategies.

>>> from masque_mc import AG, K, System
>>> system = System()
>>> coin = system.environment().enum("coin", ["heads", "tails"])
>>> alice = system.agent("Alice", sees=[coin])
>>> bob = system.agent("Bob")
>>> system.property("alice", AG((coin == "heads") >> K(alice, coin == "heads")))
>>> system.property("bob", AG((coin == "heads") >> K(bob, coin == "heads")))
>>> for result in system.build().check():
...     print(result.name, result.verdict)
alice holds
bob fails
"""

from ._bdi import World
from ._bench import Bench, BenchRow, bench
from ._errors import CheckError, Diagnostic, LoadError, MasqueError, Place, PropertyFailed
from ._evidence import Evidence, Step, Walk
from ._formula import Expr, Formula, all_of, any_of, false, ite, true
from ._lcc import Answer, Move, Session, Trace
from ._model import Model, load, loads
from ._monitor import Closed, Judgement, Monitor, MonitorSummary, Obligation, Violated
from ._operators import (
    AF, AG, AR, AU, AW, AX, DK, EF, EG, ER, EU, EW, EX, GCK, GK, KH, LTL,
    A, Can, CTLStar, E, F, G, K, O, R, U, W, X, mu, nu,
)
from ._results import Result, Results
from ._states import State, States
from ._system import Action, Agent, BuildError, System, Variable

__all__ = [
    "A", "AF", "AG", "AR", "AU", "AW", "AX", "Action", "Agent", "Answer", "Bench", "BenchRow", "BuildError", "CTLStar",
    "Can", "CheckError", "Closed", "DK", "Diagnostic", "E", "EF", "EG", "ER", "EU", "EW", "EX", "Evidence", "Expr", "F", "Formula",
    "G", "GCK", "GK", "Judgement", "K", "KH", "LTL", "LoadError", "MasqueError", "Model", "Monitor", "MonitorSummary", "Move", "O",
    "Obligation", "Place", "PropertyFailed", "R",
    "Result", "Results", "Session", "State", "States", "Step", "System", "Trace", "U", "Variable", "Violated", "W", "Walk", "World",
    "X", "all_of", "any_of", "bench", "false", "ite", "load", "loads", "mu", "nu", "true",
]
