// The kinds of errors, each with the status code that most of its codes have.

export type ErrorKind =
  | 'request'
  | 'auth'
  | 'permission'
  | 'not_found'
  | 'conflict'
  | 'rule'
  | 'limit'
  | 'internal';

export type CodeEntry = { statusCode: number; type: ErrorKind; summary: string };

export function request(summary: string, statusCode = 400): CodeEntry {
  return { statusCode, type: 'request', summary };
}
export function auth(summary: string): CodeEntry {
  return { statusCode: 401, type: 'auth', summary };
}
export function permission(summary: string): CodeEntry {
  return { statusCode: 403, type: 'permission', summary };
}
export function notFound(summary: string): CodeEntry {
  return { statusCode: 404, type: 'not_found', summary };
}
export function conflict(summary: string): CodeEntry {
  return { statusCode: 409, type: 'conflict', summary };
}
export function rule(summary: string): CodeEntry {
  return { statusCode: 422, type: 'rule', summary };
}
export function limit(summary: string, statusCode: number): CodeEntry {
  return { statusCode, type: 'limit', summary };
}
