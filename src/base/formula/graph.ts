/** Nodes in an order in which each comes after all it needs, or one cycle among them. */
type Ordered = { readonly order: number[]; readonly cycle: number[] | null };

/**
 * Depth-first over `needs[node]`. Nodes and edges are visited in rising order, so the result
 * depends on the graph alone and not on how it was listed.
 */
export function topologicalOrder(needs: readonly (readonly number[])[]): Ordered {
  const state = new Uint8Array(needs.length);
  const order: number[] = [];
  for (let start = 0; start < needs.length; start++) {
    if (state[start] !== 0) continue;
    // An explicit stack: a chain may be longer than the call stack is deep.
    const path = [start];
    const edges = [0];
    state[start] = 1;
    while (path.length > 0) {
      const node = path[path.length - 1] as number;
      const edge = edges[edges.length - 1] as number;
      const next = (needs[node] as readonly number[])[edge];
      if (next === undefined) {
        state[node] = 2;
        order.push(node);
        path.pop();
        edges.pop();
        continue;
      }
      edges[edges.length - 1] = edge + 1;
      if (state[next] === 1) return { order: [], cycle: path.slice(path.indexOf(next)) };
      if (state[next] === 0) {
        state[next] = 1;
        path.push(next);
        edges.push(0);
      }
    }
  }
  return { order, cycle: null };
}
