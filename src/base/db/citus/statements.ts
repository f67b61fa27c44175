// The statements of a migration, one by one. Citus passes a change of the schema on to the other
// machines by its text, so each statement has to come by itself.

/** What a semicolon does not end: texts, names, comments and the bodies of functions. */
const piece =
  /'(?:[^']|'')*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?\*\/|(\$\w*\$)[\s\S]*?\1|;|[^'"$;/-]+|./gy;

export function statementsOf(text: string): string[] {
  const statements: string[] = [];
  let current = '';
  const end = () => {
    if (current.trim() !== '') statements.push(current.trim());
    current = '';
  };
  for (const [token] of text.matchAll(piece)) {
    if (token === ';') end();
    else if (!/^(--|\/\*)/.test(token)) current += token;
  }
  end();
  return statements;
}
