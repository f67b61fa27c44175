// The slab functions and LOOKUP.
import { exactText } from '../numbers/decimal-text.ts';
import { type Exact, one } from '../numbers/exact.ts';
import {
  type Binder,
  type Checker,
  type Compiler,
  type FormulaFunction,
  LookupError,
  type Of,
} from './function-kinds.ts';
import { type SlabReading, slabFormulas, slabReached } from './slab.ts';
import { didYouMean } from './suggest.ts';
import { type CallNode, type FormulaNode, type FormulaType, numberType } from './syntax.ts';
import { flatColumn, limitColumn, rateColumn, type Slabs, type Table } from './table.ts';

export const tableFunctions: readonly (readonly [string, FormulaFunction])[] = [
  ['SLAB', slabFunction('SLAB')],
  ['SLABVOLUME', slabFunction('SLABVOLUME')],
  ['SLABPREVIOUS', slabFunction('SLABPREVIOUS')],
  ['SLABRATE', slabFunction('SLABRATE')],
  [
    'LOOKUP',
    {
      arity: { min: 3, max: 3 },
      usage: 'LOOKUP(table, key, "column")',
      check: checkLookup,
      compile: compileLookup,
    },
  ],
];

function slabFunction(reading: SlabReading): FormulaFunction {
  return {
    arity: { min: 2, max: 3 },
    usage: `${reading}(quantity, table, factor)`,
    check(call, checker) {
      checker.want(call.args[0] as FormulaNode, 'number', `the quantity of ${reading}`);
      checkSlabTable(call, checker);
      const factor = call.args[2];
      if (factor !== undefined) checker.want(factor, 'number', `the factor of ${reading}`);
      return numberType;
    },
    compile(call, compiler) {
      return compileSlab(call, compiler, reading);
    },
  };
}

function checkSlabTable(call: CallNode, checker: Checker): void {
  const node = call.args[1] as FormulaNode;
  checker.want(node, 'table', `the second argument of ${call.name}`);
  const columns = checker.typeOf(node).columns;
  if (columns === undefined) return;
  if (columns[0] !== limitColumn) {
    const message = `${call.name} needs a table whose first column is \`${limitColumn}\``;
    checker.report('FORMULA_TYPE', node, message);
  } else if (!columns.includes(rateColumn) && !columns.includes(flatColumn)) {
    const message = `${call.name} needs a column \`${rateColumn}\` or \`${flatColumn}\``;
    checker.report('FORMULA_TYPE', node, message);
  }
}

function compileSlab<F>(call: CallNode, compiler: Compiler<F>, reading: SlabReading): Of<F, Exact> {
  const formula = slabFormulas[reading];
  const quantity = compiler.number(call.args[0] as FormulaNode);
  const table = compiler.table(call.args[1] as FormulaNode);
  const factorNode = call.args[2];
  const factor = factorNode === undefined ? () => one : compiler.number(factorNode);
  const note: Binder<F>['slab'] = compiler.binder.slab;
  return (frame) => {
    const units = quantity(frame);
    const slabs = table(frame).slabs as Slabs;
    const scale = factor(frame);
    const slab = slabReached(slabs, units, scale);
    if (note !== undefined) note(frame, { reading, slabs, slab, quantity: units, factor: scale });
    return formula(slabs, slab, units, scale);
  };
}

function checkLookup(call: CallNode, checker: Checker): FormulaType {
  const [table, key, column] = call.args as [FormulaNode, FormulaNode, FormulaNode];
  checker.want(table, 'table', 'the first argument of LOOKUP');
  const keyType = checker.typeOf(key).kind;
  if (keyType === 'boolean' || keyType === 'table') {
    checker.report('FORMULA_TYPE', key, `the key of LOOKUP is ${keyType}, not a text or a number`);
  }
  checker.typeOf(column);
  if (column.kind !== 'text') {
    checker.report('FORMULA_TYPE', column, 'LOOKUP names its column as a text: "column"');
    return numberType;
  }
  const columns = checker.typeOf(table).columns;
  if (columns !== undefined && columns.indexOf(column.value) < 1) {
    const others = columns.slice(1);
    const message = `the table has no number column "${column.value}"`;
    const hint = didYouMean(column.value, others) || ` (it has ${others.join(', ') || 'none'})`;
    checker.report('FORMULA_UNKNOWN_NAME', column, message + hint);
  }
  return numberType;
}

function compileLookup<F>(call: CallNode, compiler: Compiler<F>): Of<F, Exact> {
  const [tableNode, keyNode, columnNode] = call.args as [FormulaNode, FormulaNode, FormulaNode];
  const table = compiler.table(tableNode);
  const key = compiler.scalar(keyNode);
  const column = columnNode.kind === 'text' ? columnNode.value : '';
  return (frame) => {
    const rows = table(frame);
    const wanted = key(frame);
    if (typeof wanted === 'string') return lookUp(rows, rows.rowByKey, wanted, column);
    return lookUp(rows, rows.rowByNumber, exactText(wanted as Exact), column);
  };
}

function lookUp(
  table: Table,
  index: ReadonlyMap<string, number>,
  key: string,
  column: string,
): Exact {
  const row = index.get(key) ?? table.rowByKey.get('*');
  const value = row === undefined ? undefined : table.numbers.get(column)?.[row];
  if (value === undefined) throw new LookupError(`the table has no row for "${key}"`);
  return value;
}
