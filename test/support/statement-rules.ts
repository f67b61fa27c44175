// The rules for SQL that can be seen in the text of a statement: see "Rules for SQL" in
// CONTRIBUTING.md. PostgreSQL's own parser takes the statement apart.
import { loadModule, parseSync } from 'libpg-query';

export type SqlCatalogue = {
  /** Tables with rows of tenants. */
  tenantTables: ReadonlySet<string>;
  /** Functions of ours that read or write tables. */
  readingFunctions: ReadonlySet<string>;
  volatileFunctions: ReadonlySet<string>;
};

export type SqlRule =
  | 'own tenant'
  | 'tenant of insert'
  | 'writing CTE'
  | 'CTE before insert'
  | 'array element'
  | 'set_config in CTE'
  | 'volatile update'
  | 'simple case'
  | 'row in query'
  | 'reading function'
  | 'generic plan';

export type SqlFault = { rule: SqlRule; detail: string };

// biome-ignore lint/suspicious/noExplicitAny: the tree of the parser is walked by the names in it.
type Node = any;

await loadModule();

export function findSqlFaults(text: string, catalogue: SqlCatalogue): SqlFault[] {
  const faults: SqlFault[] = [];
  for (const { stmt } of parseSync(text).stmts as Node[]) {
    const found = new Statement(catalogue);
    found.visit(stmt, new Set());
    faults.push(...found.faults());
  }
  if (/force_generic_plan/.test(text)) {
    faults.push({ rule: 'generic plan', detail: 'a distributed statement has no generic plan' });
  }
  return faults;
}

/** One relation of a query, under the name by which its columns are written. */
type Relation = { name: string; table: string | undefined };

class Statement {
  readonly #catalogue: SqlCatalogue;
  readonly #faults = new Map<string, SqlFault>();
  readonly #reading = new Set<string>();
  #hasTenantTable = false;

  constructor(catalogue: SqlCatalogue) {
    this.#catalogue = catalogue;
  }

  faults(): SqlFault[] {
    if (!this.#hasTenantTable) {
      for (const name of this.#reading) this.#add('reading function', `calls ${name}()`);
    }
    return [...this.#faults.values()];
  }

  #add(rule: SqlRule, detail: string): void {
    this.#faults.set(`${rule} ${detail}`, { rule, detail });
  }

  /** Looks at a node and at everything below it. `ctes` are names that are no tables here. */
  visit(node: Node, ctes: ReadonlySet<string>): void {
    if (Array.isArray(node)) {
      for (const one of node) this.visit(one, ctes);
      return;
    }
    if (node === null || typeof node !== 'object') return;
    for (const [kind, value] of Object.entries<Node>(node)) {
      if (kind === 'FuncCall') this.#noteCall(value);
      const isQuery =
        /^(SelectStmt|InsertStmt|UpdateStmt|DeleteStmt)$/.test(kind) ||
        ((kind === 'larg' || kind === 'rarg') && value?.op !== undefined);
      if (isQuery) this.#visitQuery(kind, value, ctes);
      else this.visit(value, ctes);
    }
  }

  #noteCall(call: Node): void {
    const name = nameOf(call.funcname);
    if (this.#catalogue.readingFunctions.has(name)) this.#reading.add(name);
  }

  #visitQuery(kind: string, query: Node, outer: ReadonlySet<string>): void {
    const ctes = new Set(outer);
    for (const { CommonTableExpr: cte } of query.withClause?.ctes ?? []) {
      ctes.add(cte.ctename);
      if (!cte.ctequery.SelectStmt) this.#add('writing CTE', cte.ctename);
      if (callsIn(cte.ctequery).includes('set_config')) {
        this.#add('set_config in CTE', cte.ctename);
      }
    }
    const writes = /^(Insert|Update|Delete)Stmt$/.test(kind);
    if (writes && hasSimpleCase(query)) {
      this.#add('simple case', 'case x when y, instead of case when x = y');
    }
    if (writes && hasRowInQuery(query)) {
      this.#add('row in query', '(a, b) in (select …), instead of a join');
    }
    this.#checkTenants(kind, query, ctes);
    if (kind === 'UpdateStmt') this.#checkUpdate(query, query.targetList);
    if (kind === 'InsertStmt') {
      this.#checkInsert(query);
      if (query.onConflictClause) this.#checkUpdate(query, query.onConflictClause.targetList ?? []);
    }
    this.visit(query, ctes);
  }

  #checkTenants(kind: string, query: Node, ctes: ReadonlySet<string>): void {
    const relations: Relation[] = [];
    const conditions: Node[] = [];
    const conjuncts = (node: Node): void => {
      if (!node) return;
      if (node.BoolExpr?.boolop === 'AND_EXPR') node.BoolExpr.args.forEach(conjuncts);
      else conditions.push(node);
    };
    const from = (node: Node): void => {
      if (node.RangeVar) relations.push(this.#relationOf(node.RangeVar, ctes));
      else if (node.JoinExpr) {
        from(node.JoinExpr.larg);
        from(node.JoinExpr.rarg);
        conjuncts(node.JoinExpr.quals);
      } else relations.push({ name: otherName(node), table: undefined });
    };
    if (kind === 'UpdateStmt' || kind === 'DeleteStmt') {
      relations.push(this.#relationOf(query.relation, ctes));
    } else if (kind === 'InsertStmt') {
      if (this.#catalogue.tenantTables.has(query.relation.relname)) this.#hasTenantTable = true;
    }
    for (const one of query.fromClause ?? query.usingClause ?? []) from(one);
    conjuncts(query.whereClause);
    const pinned = new Set(conditions.map(pinnedBy));
    const tables = relations.filter((one) => one.table !== undefined);
    if (tables.length > 0) this.#hasTenantTable = true;
    for (const { name, table } of tables) {
      const isPinned = pinned.has(name) || (pinned.has('') && tables.length === 1);
      if (!isPinned) this.#add('own tenant', name === table ? name : `${table} as ${name}`);
    }
  }

  #relationOf(range: Node, ctes: ReadonlySet<string>): Relation {
    const isTable = !ctes.has(range.relname) && this.#catalogue.tenantTables.has(range.relname);
    return {
      name: range.alias?.aliasname ?? range.relname,
      table: isTable ? range.relname : undefined,
    };
  }

  #checkUpdate(query: Node, targets: readonly Node[]): void {
    for (const { ResTarget: target } of targets) {
      if (isArrayElement(target.val)) this.#add('array element', `sets ${target.name}`);
    }
    const { withClause: _, ...rest } = query;
    const parts = query.onConflictClause ? [query.onConflictClause] : [rest];
    for (const name of callsIn([...parts, query.returningClause, query.returningList])) {
      const isVolatile = this.#catalogue.volatileFunctions.has(name) || name === 'pg_backend_pid';
      if (isVolatile) this.#add('volatile update', `calls ${name}()`);
    }
  }

  #checkInsert(query: Node): void {
    if (!this.#catalogue.tenantTables.has(query.relation.relname)) return;
    const at = (query.cols ?? []).findIndex((one: Node) => one.ResTarget.name === 'tenant_id');
    const select = query.selectStmt?.SelectStmt;
    if (query.withClause && !select?.valuesLists) {
      this.#add('CTE before insert', `into ${query.relation.relname}`);
    }
    for (const one of branches(select)) {
      if (one.valuesLists) continue;
      const value = one.targetList?.[at]?.ResTarget.val;
      if (value && !value.ColumnRef) {
        this.#add('tenant of insert', `of ${query.relation.relname}`);
      }
    }
  }
}

/** The single selects of a union. */
function branches(select: Node): Node[] {
  if (!select) return [];
  return select.larg ? [...branches(select.larg), ...branches(select.rarg)] : [select];
}

/** The name of the relation whose tenant the condition fixes; '' where it is written without. */
function pinnedBy(condition: Node): string | undefined {
  const comparison = condition.A_Expr;
  if (comparison?.kind !== 'AEXPR_OP' || nameOf(comparison.name) !== '=') return undefined;
  const sides = [comparison.lexpr, comparison.rexpr];
  const column = sides.find((side) => side?.ColumnRef && lastOf(side.ColumnRef) === 'tenant_id');
  if (!column || !sides.some(isFixed)) return undefined;
  const fields = column.ColumnRef.fields;
  return fields.length > 1 ? fields.at(-2).String.sval : '';
}

const tenantFunctions = ['current_tenant', 'require_tenant'];

function isFixed(node: Node): boolean {
  if (node?.TypeCast) return isFixed(node.TypeCast.arg);
  if (node?.FuncCall) return tenantFunctions.includes(nameOf(node.FuncCall.funcname));
  return node?.ParamRef !== undefined || node?.A_Const !== undefined;
}

function isArrayElement(node: Node): boolean {
  if (node?.TypeCast) return isArrayElement(node.TypeCast.arg);
  return (node?.A_Indirection?.indirection ?? []).some((one: Node) => one.A_Indices);
}

function hasRowInQuery(node: Node): boolean {
  if (node === null || typeof node !== 'object') return false;
  if (!Array.isArray(node) && node.SubLink?.testexpr?.RowExpr) return true;
  return Object.values<Node>(node).some(hasRowInQuery);
}

function hasSimpleCase(node: Node): boolean {
  if (node === null || typeof node !== 'object') return false;
  if (!Array.isArray(node) && node.CaseExpr?.arg) return true;
  return Object.values<Node>(node).some(hasSimpleCase);
}

function callsIn(node: Node): string[] {
  if (Array.isArray(node)) return node.flatMap(callsIn);
  if (node === null || typeof node !== 'object') return [];
  return Object.entries<Node>(node).flatMap(([kind, value]) => [
    ...(kind === 'FuncCall' ? [nameOf(value.funcname)] : []),
    ...callsIn(value),
  ]);
}

function otherName(node: Node): string {
  const inner: Node = Object.values(node)[0];
  return inner?.alias?.aliasname ?? '';
}

function nameOf(parts: Node): string {
  return parts?.at(-1)?.String?.sval ?? '';
}

function lastOf(column: Node): string {
  return column.fields.at(-1)?.String?.sval ?? '';
}
