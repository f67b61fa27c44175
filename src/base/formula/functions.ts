import type { FormulaFunction } from './function-kinds.ts';
import { logicFunctions } from './logic-functions.ts';
import { numberFunctions } from './number-functions.ts';
import { tableFunctions } from './table-functions.ts';

/** Every function the language itself knows, by upper-case name. */
export const formulaFunctions: ReadonlyMap<string, FormulaFunction> = new Map([
  ...logicFunctions,
  ...numberFunctions,
  ...tableFunctions,
]);
