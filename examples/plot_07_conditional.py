"""
Regression by conditional densities
===================================

A mixture of Gaussians knows the density of every column given the others. The mean of this density
is a regression that bends where the data do. Its quantiles follow noise that changes. Where the
answer is ambiguous, the density has two peaks, which a single curve cannot show.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from bnpcluster import DPMixture

# %%
# The noise grows along x, and from x = 2 on there are two branches.
rng = np.random.default_rng(0)
x = rng.uniform(-3, 4, 400)
branch = np.where(rng.random(400) < 0.5, 1.0, -1.0) * np.maximum(x - 2, 0) * 1.5
y = np.sin(x) + branch + rng.normal(size=400) * (0.1 + 0.05 * (x + 3))

# %%
# Curved data can be cut into Gaussian pieces in many ways, and chains move slowly between them. By
# default a fit ends if progress is slow, and warns. So we ask for more draws than usual.
model = DPMixture(n_warmup=500, n_draws=2000, random_state=0).fit(np.column_stack([x, y]))
print(model.report())

# %%
# One conditional density of y for every value of x.
grid = np.linspace(-3, 4, 141)
regression = model.conditional({0: grid})
middle = regression.mean()[:, 0]
low, high = np.quantile(regression.sample(1000, random_state=0)[:, :, 0], [0.05, 0.95], axis=1)
print(
    "rows within their 90 % intervals:",
    np.mean((y > np.interp(x, grid, low)) & (y < np.interp(x, grid, high))),
)

# %%
# Left: the mean and 90 % of the probability. Right: the density of y at three values of x.
figure, (left, right) = plt.subplots(ncols=2, figsize=(10, 4.5), layout="constrained")
left.scatter(x, y, s=8, lw=0, color="0.6")
left.fill_between(grid, low, high, color="#0072B2", alpha=0.25, lw=0, label="90 % of y given x")
left.plot(grid, middle, color="#0072B2", label="mean of y given x")
left.set(xlabel="x", ylabel="y")

values = np.linspace(-5, 6, 400)
for at, colour in ((-2.0, "#009E73"), (1.0, "#E69F00"), (3.7, "#D55E00")):
    density = np.exp(model.conditional({0: at}).score_samples(values))
    right.plot(values, density, color=colour, label=f"x = {at:g}")
    left.axvline(at, color=colour, lw=1, ls="--")
right.set(xlabel="y", ylabel="density of y given x", ylim=(0, None))
left.legend(loc="upper left")
right.legend()
plt.show()
