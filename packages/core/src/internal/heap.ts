/**
 * A heap of positions.
 *
 * @internal
 */

/** Positions by falling priority; of equal ones the lowest first. Without priorities: the lowest first. */
export class Heap {
  private readonly items: Int32Array
  size = 0
  constructor(
    capacity: number,
    private readonly priority: Float64Array | undefined
  ) {
    this.items = new Int32Array(capacity)
  }
  private before(a: number, b: number): boolean {
    if (this.priority !== undefined) {
      const left = this.priority[a] ?? 0
      const right = this.priority[b] ?? 0
      if (left !== right) return left > right
    }
    return a < b
  }
  push(item: number): void {
    let i = this.size++
    while (i > 0) {
      const parent = (i - 1) >> 1
      const above = this.items[parent] ?? 0
      if (!this.before(item, above)) break
      this.items[i] = above
      i = parent
    }
    this.items[i] = item
  }
  pop(): number {
    const top = this.items[0] ?? 0
    const last = this.items[--this.size] ?? 0
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= this.size) break
      if (child + 1 < this.size && this.before(this.items[child + 1] ?? 0, this.items[child] ?? 0)) child++
      const below = this.items[child] ?? 0
      if (!this.before(below, last)) break
      this.items[i] = below
      i = child
    }
    this.items[i] = last
    return top
  }
}
