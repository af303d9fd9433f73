/** Fits linear weights by gradient descent with momentum: few weights, few thousand examples, no library needed. */

export type Weights = Readonly<Record<string, number>>
type Signs = Readonly<Record<string, number>>

/** Units of one question, of which at least one is right. */
export interface Choice {
  readonly group: Readonly<Record<"file" | "corpus", string>>
  readonly units: ReadonlyArray<{ readonly signs: Signs; readonly right: boolean }>
  readonly weight: number
}

/** A question that was answered rightly or not, or should not have been answered. */
export interface Judgement {
  readonly group: Readonly<Record<"file" | "corpus", string>>
  readonly signs: Signs
  readonly right: boolean
  readonly weight: number
}

const steps = 150
const rate = 0.1
/** How strongly weights are held near those that stand, which more examples correct. */
const decay = 0.003

type Vector = Float64Array

const vectorOf = (names: ReadonlyArray<string>, signs: Signs): Vector => Float64Array.from(names, (name) => signs[name] ?? 0)

const product = (a: Vector, b: Vector): number => {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!
  return sum
}

/** Adam, with less and less of a step. `slope` adds to the gradient it is given. */
const descend = (start: Weights, slope: (weights: Vector, gradient: Vector, names: ReadonlyArray<string>) => void): Weights => {
  const names = Object.keys(start)
  const weights = vectorOf(names, start)
  const anchor = vectorOf(names, start)
  const mean = new Float64Array(names.length)
  const square = new Float64Array(names.length)
  for (let step = 1; step <= steps; step++) {
    const gradient = new Float64Array(names.length)
    slope(weights, gradient, names)
    for (let at = 0; at < names.length; at++) {
      const by = gradient[at]! + (names[at] === "bias" ? 0 : decay * (weights[at]! - anchor[at]!))
      mean[at] = 0.9 * mean[at]! + 0.1 * by
      square[at] = 0.99 * square[at]! + 0.01 * by * by
      weights[at]! -= rate * (1 - step / (steps + 1)) * (mean[at]! / (1 - 0.9 ** step)) /
        (Math.sqrt(square[at]! / (1 - 0.99 ** step)) + 1e-8)
    }
  }
  return Object.fromEntries(names.map((name, at) => [name, weights[at]!]))
}

const dot = (weights: Weights, signs: Signs): number =>
  Object.keys(weights).reduce((sum, name) => sum + weights[name]! * (signs[name] ?? 0), 0)

/** Weights by which the right units come first. */
export const fitChoices = (choices: ReadonlyArray<Choice>, start: Weights): Weights => {
  const total = choices.reduce((sum, { weight }) => sum + weight, 0)
  const names = Object.keys(start)
  const all = choices.map(({ units, weight }) => ({
    weight: weight / total,
    units: units.map(({ right, signs }) => ({ right, signs: vectorOf(names, signs) }))
  }))
  return descend(start, (weights, gradient) => {
    for (const { units, weight } of all) {
      const scores = units.map(({ signs }) => product(weights, signs))
      const most = Math.max(...scores)
      let sum = 0
      let good = 1e-12
      const powers = scores.map((score, at) => {
        const power = Math.exp(score - most)
        sum += power
        if (units[at]!.right) good += power
        return power
      })
      units.forEach(({ right, signs }, at) => {
        const push = weight * (powers[at]! / sum - (right ? powers[at]! / good : 0))
        if (Math.abs(push) > 1e-9) { for (let sign = 0; sign < signs.length; sign++) gradient[sign]! += push * signs[sign]! }
      })
    }
  })
}

/** Share of the questions whose first unit is right. */
export const firstRight = (choices: ReadonlyArray<Choice>, weights: Weights): number => {
  let right = 0
  for (const { units } of choices) {
    const scores = units.map(({ signs }) => dot(weights, signs))
    if (units[scores.indexOf(Math.max(...scores))]!.right) right++
  }
  return right / Math.max(1, choices.length)
}

const chance = (weights: Weights, signs: Signs): number => 1 / (1 + Math.exp(-dot(weights, signs)))

/** Logistic regression. */
export const fitJudgements = (judgements: ReadonlyArray<Judgement>, start: Weights): Weights => {
  const total = judgements.reduce((sum, { weight }) => sum + weight, 0)
  const names = Object.keys(start)
  const all = judgements.map(({ right, signs, weight }) => ({
    right: right ? 1 : 0,
    signs: vectorOf(names, signs),
    weight: weight / total
  }))
  return descend(start, (weights, gradient) => {
    for (const { right, signs, weight } of all) {
      const error = weight * (1 / (1 + Math.exp(-product(weights, signs))) - right)
      for (let sign = 0; sign < signs.length; sign++) gradient[sign]! += error * signs[sign]!
    }
  })
}

export interface Quality {
  /** Area under the ROC curve. */
  readonly area: number
  /** Mean squared error of the probability. */
  readonly brier: number
}

export const qualityOf = (judged: ReadonlyArray<{ readonly right: boolean; readonly chance: number }>): Quality => {
  const good = judged.filter(({ right }) => right)
  const bad = judged.filter(({ right }) => !right)
  let wins = 0
  for (const a of good) for (const b of bad) wins += a.chance > b.chance ? 1 : a.chance === b.chance ? 0.5 : 0
  return {
    area: wins / Math.max(1, good.length * bad.length),
    brier: judged.reduce((sum, { chance, right }) => sum + (chance - (right ? 1 : 0)) ** 2, 0) / Math.max(1, judged.length)
  }
}

const folds = 5
const foldOf = (text: string): string => String([...text].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 9973, 7) % folds)

/** Fits without each fifth of the files, or without each corpus, and joins what the rest says of it. */
export const crossValidate = <A extends Choice | Judgement, B>(
  examples: ReadonlyArray<A>,
  by: "file" | "corpus",
  fit: (examples: ReadonlyArray<A>) => Weights,
  test: (examples: ReadonlyArray<A>, weights: Weights) => ReadonlyArray<B>
): ReadonlyArray<B> => {
  const keyOf = ({ group }: A): string => (by === "corpus" ? group.corpus : foldOf(group.file))
  return [...new Set(examples.map(keyOf))].flatMap((key) =>
    test(examples.filter((example) => keyOf(example) === key), fit(examples.filter((example) => keyOf(example) !== key)))
  )
}

export const judgedBy = (
  judgements: ReadonlyArray<Judgement>,
  weights: Weights
): ReadonlyArray<{ readonly right: boolean; readonly chance: number }> =>
  judgements.map(({ right, signs }) => ({ right, chance: chance(weights, signs) }))
