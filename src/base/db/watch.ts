// Tests can see the text of every statement that is sent to PostgreSQL.

let watcher: ((text: string) => void) | undefined;

export function watchStatements(onStatement: (text: string) => void): void {
  watcher = onStatement;
}

export function noteStatement(text: string): void {
  watcher?.(text);
}
