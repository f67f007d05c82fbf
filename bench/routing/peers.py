"""Measures cost and reward of Python libraries, for comparison with our figures: peers.py DATA [SEEDS].

`make bench-routing` runs it with the packages in place; a package that is missing is named and
left out. One core, one row at a time: choose, see the reward, learn, next row.
"""

import os
import sys
import time

# Read when numpy is imported: one core, like ours.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped the Python libraries: {missing}")
    sys.exit(0)
try:
    from mabwiser.mab import MAB, LearningPolicy
except ImportError:
    MAB = None
try:
    from vowpalwabbit import Workspace
except ImportError:
    Workspace = None

MOST_SEEDS = 30
# No further seeds after this many seconds, once there are the minimum number.
SECONDS_A_LINE = 12
FEWEST_SEEDS = 3
ROUNDS = 7
COST_ARMS, COST_FEATURES, WARM_TURNS = 10, 32, 200
# Two-sided 95% quantiles of Student's t by degrees of freedom, from 1.
STUDENT = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045,
]  # fmt: skip


def with_constant(features):
    """Appends a column of ones, which our regressions add by themselves."""
    return np.hstack([features, np.ones((len(features), 1))])


class NumpyThompson:
    """Beta posteriors from a flat prior; chooses the highest draw."""

    def __init__(self, arms, _features, seed):
        self.random = np.random.default_rng(seed)
        self.counts = np.ones((2, arms))

    contexts = staticmethod(list)

    def choose(self, _context):
        return int(self.random.beta(self.counts[0], self.counts[1]).argmax())

    def learn(self, _context, arm, reward):
        self.counts[0, arm] += reward
        self.counts[1, arm] += 1.0 - reward


class NumpyLinear:
    """A ridge regression per arm, all arms in one array, inverses by Sherman-Morrison."""

    def __init__(self, arms, features, seed, alpha, draws):
        self.random = np.random.default_rng(seed)
        self.arms, self.alpha, self.draws = arms, alpha, draws
        self.inverse = np.tile(np.eye(features + 1), (arms, 1, 1))
        self.moment = np.zeros((arms, features + 1))
        self.theta = np.zeros((arms, features + 1))

    @staticmethod
    def contexts(features):
        return list(with_constant(features))

    def choose(self, x):
        deviation = self.alpha * np.sqrt((self.inverse @ x) @ x)
        if self.draws:
            deviation *= self.random.standard_normal(self.arms)
        return int((self.theta @ x + deviation).argmax())

    def learn(self, x, arm, reward):
        inverse = self.inverse[arm]
        turned = inverse @ x
        inverse -= np.outer(turned, turned) / (1.0 + turned @ x)
        self.moment[arm] += reward * x
        self.theta[arm] = inverse @ self.moment[arm]


class Mabwiser:
    """MABWiser, updated after every row. It needs one observation before its first choice."""

    def __init__(self, arms, _features, seed, policy):
        self.contextual = not isinstance(policy, LearningPolicy.ThompsonSampling)
        self.bandit = MAB(list(range(arms)), policy, seed=seed)
        self.first = int(np.random.default_rng(seed).integers(arms))
        self.fitted = False

    @staticmethod
    def contexts(features):
        rows = with_constant(features)
        return [rows[row : row + 1] for row in range(len(rows))]

    def choose(self, context):
        if not self.fitted:
            return self.first
        return self.bandit.predict(context) if self.contextual else self.bandit.predict()

    def learn(self, context, arm, reward):
        fit = self.bandit.partial_fit if self.fitted else self.bandit.fit
        self.fitted = True
        if self.contextual:
            fit([arm], [reward], context)
        else:
            fit([arm], [reward])


class Vowpal:
    """Vowpal Wabbit with row features crossed with the arm. Rows are formatted in advance."""

    def __init__(self, arms, _features, seed, options):
        words = f"--cb_explore_adf -q sa {options} --quiet --random_seed {seed + 1}"
        self.workspace = Workspace(words)
        self.random = np.random.default_rng(seed)
        self.arms = [f"|a arm{arm}" for arm in range(arms)]
        self.chance = 1.0 / arms

    @staticmethod
    def contexts(features):
        def written(row):
            return " ".join(f"{index}:{value:.6g}" for index, value in enumerate(row))

        return [f"shared |s {written(row)}" for row in features]

    def choose(self, context):
        left = self.random.random()
        chances = self.workspace.predict([context, *self.arms])
        for arm, chance in enumerate(chances):
            left -= chance
            if left < 0.0:
                break
        self.chance = chances[arm]
        return arm

    def learn(self, context, arm, reward):
        lines = [context, *self.arms]
        lines[arm + 1] = f"0:{1.0 - reward}:{self.chance} {lines[arm + 1]}"
        self.workspace.learn(lines)


def numpy_peers():
    def linear(alpha, draws):
        return lambda *shape: NumpyLinear(*shape, alpha, draws)

    return [
        ("numpy Beta Thompson", NumpyThompson),
        ("numpy LinUCB, α 0.5", linear(0.5, False)),
        ("numpy LinUCB, α 0.25", linear(0.25, False)),
        ("numpy LinTS, α 0.15", linear(0.15, True)),
    ]


def mabwiser_peers():
    def peer(policy):
        return lambda *shape: Mabwiser(*shape, policy)

    def is_good(_arm, reward):
        return reward > 0.5

    return [
        ("MABWiser Thompson, rewards cut at 0.5", peer(LearningPolicy.ThompsonSampling(is_good))),
        ("MABWiser LinUCB, α 1 (default)", peer(LearningPolicy.LinUCB())),
        ("MABWiser LinUCB, α 0.25", peer(LearningPolicy.LinUCB(alpha=0.25))),
        ("MABWiser LinTS, α 0.15", peer(LearningPolicy.LinTS(alpha=0.15))),
    ]


def vowpal_peers():
    def peer(options):
        return lambda *shape: Vowpal(*shape, options)

    return [
        ("VW, ε 0.05 (default)", peer("")),
        ("VW, squarecb", peer("--squarecb")),
        ("VW, squarecb, γ 1000, rate 2", peer("--squarecb --gamma_scale 1000 -l 2")),
    ]


def best_of_rounds(call, calls):
    """Microseconds per call, in the fastest round."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for number in range(calls):
            call(number)
        best = min(best, time.perf_counter() - began)
    return best / calls * 1e6


def measure_cost(peers):
    shape = f"{COST_ARMS} arms, {COST_FEATURES} features"
    print(f"## Python peers: cost of one call on one core, {shape}, best of {ROUNDS} rounds\n")
    print("| what | choose, µs | update, µs |")
    print("|---|---|---|")
    random = np.random.default_rng(1)
    features = random.uniform(-0.3, 0.3, (2000, COST_FEATURES))
    rewards = [float(reward) for reward in random.random(2000)]
    for name, peer in peers:
        policy = peer(COST_ARMS, COST_FEATURES, 1)
        contexts = policy.contexts(features)

        def choose(turn):
            policy.choose(contexts[turn])

        def learn(turn):
            policy.learn(contexts[turn], turn % COST_ARMS, rewards[turn])

        for turn in range(WARM_TURNS):
            learn(turn)
        calls = 100 if isinstance(policy, Mabwiser) else 2000
        choosing, learning = best_of_rounds(choose, calls), best_of_rounds(learn, calls)
        print(f"| {name} | {choosing:.1f} | {learning:.1f} |", flush=True)
    print()


def read(path):
    """Features, and the reward of each arm: `score:ARM` columns, or the correct arm as `y`."""
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(",") for line in file if not line.startswith("#")]
    header, rows = lines[0], lines[1:]

    def numbers(wanted):
        columns = [index for index, name in enumerate(header) if wanted(name)]
        return np.array([[float(row[column]) for column in columns] for row in rows])

    features = numbers(lambda name: name[:1] == "f" and name[1:].isdigit())
    if "y" in header:
        right = numbers(lambda name: name == "y").astype(int).ravel()
        return features, np.eye(10)[right]
    return features, numbers(lambda name: name.startswith("score:"))


def one_pass(peer, contexts, features, rewards, seed):
    policy = peer(rewards.shape[1], features.shape[1], seed)
    order = np.random.default_rng(1000 + seed).permutation(len(rewards))
    earned = 0.0
    for row in order:
        arm = policy.choose(contexts[row])
        reward = float(rewards[row, arm])
        earned += reward
        policy.learn(contexts[row], arm, reward)
    return earned / len(rewards)


def measure_rewards(peers, data, name, most_seeds):
    features, rewards = read(os.path.join(data, "routing", f"{name}.csv"))
    print(f"## Python peers: {name}, {len(rewards)} rows, {rewards.shape[1]} arms\n")
    print("| what | average reward | seeds |")
    print("|---|---|---|")
    for title, peer in peers:
        contexts = peer(rewards.shape[1], features.shape[1], 0).contexts(features)
        began, means = time.perf_counter(), []
        while len(means) < most_seeds:
            means.append(one_pass(peer, contexts, features, rewards, len(means)))
            if len(means) >= FEWEST_SEEDS and time.perf_counter() - began > SECONDS_A_LINE:
                break
        print(f"| {title} | {shown(means)} | {len(means)} |", flush=True)
    print()


def shown(means):
    if len(means) < 2:
        return f"{np.mean(means):.4f}"
    quantile = STUDENT[len(means) - 2] if len(means) - 2 < len(STUDENT) else 1.96
    reach = quantile * np.std(means, ddof=1) / len(means) ** 0.5
    return f"{np.mean(means):.4f} ± {reach:.4f}"


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: peers.py DATA [SEEDS]")
    most_seeds = int(sys.argv[2]) if len(sys.argv) > 2 else MOST_SEEDS
    peers = numpy_peers()
    for name, module, more in (
        ("MABWiser", MAB, mabwiser_peers),
        ("Vowpal Wabbit", Workspace, vowpal_peers),
    ):
        if module is None:
            print(f"{name} is skipped: it cannot be imported here.\n")
        else:
            peers += more()
    measure_cost(peers)
    for name in ("digits", "llmrouter_9models"):
        measure_rewards(peers, sys.argv[1], name, most_seeds)


if __name__ == "__main__":
    main()
