"""Works out what a business trip pays, by the rules of the travel and expense policy.

Owner: Petra Solheim. Kettle runs this file every night; change the policy first, then the numbers here.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal

# Euros for a full day away, by city. Half rates apply on the days of departure and return.
DAILY_ALLOWANCE = {
    "Gothenburg": Decimal("48"),
    "Hamburg": Decimal("50"),
    "Nairobi": Decimal("42"),
    "Osaka": Decimal("46"),
}
ELSEWHERE = Decimal("40")

# Euros per kilometre in a private car, and the extra for each colleague who rides along.
MILEAGE = Decimal("0.30")
PASSENGER_EXTRA = Decimal("0.04")

# Taken off the day's allowance for each meal that somebody else paid for.
MEAL_SHARE = {"breakfast": Decimal("0.20"), "lunch": Decimal("0.35"), "dinner": Decimal("0.35")}


@dataclass(frozen=True)
class Trip:
    city: str
    departure: date
    return_: date
    provided_meals: tuple[tuple[date, str], ...] = ()


def daily_allowance(trip: Trip) -> Decimal:
    """The whole trip's allowance in euros, rounded to the cent."""
    if trip.return_ < trip.departure:
        raise ValueError("a trip cannot end before it starts")
    full = DAILY_ALLOWANCE.get(trip.city, ELSEWHERE)
    total = Decimal(0)
    day = trip.departure
    while day <= trip.return_:
        rate = full / 2 if day in (trip.departure, trip.return_) else full
        shares = [MEAL_SHARE[meal] for when, meal in trip.provided_meals if when == day]
        total += max(Decimal(0), rate - full * sum(shares, Decimal(0)))
        day += timedelta(days=1)
    return total.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def mileage(kilometres: Decimal, passengers: int = 0) -> Decimal:
    """What a drive in a private car pays. A company car pays nothing."""
    rate = MILEAGE + PASSENGER_EXTRA * passengers
    return (kilometres * rate).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
