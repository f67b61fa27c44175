import type { FormulaNode } from './syntax.ts';

/** Calls `visit` for every node, a node before its parts. */
export function walk(root: FormulaNode, visit: (node: FormulaNode) => void): void {
  const open: FormulaNode[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    visit(node);
    if (node.kind === 'negate') open.push(node.operand);
    else if (node.kind === 'binary') open.push(node.right, node.left);
    else if (node.kind === 'call') {
      for (let index = node.args.length - 1; index >= 0; index--) {
        open.push(node.args[index] as FormulaNode);
      }
    }
  }
}
