// The notes, kept in this browser and nowhere else.
import type { Note } from './messages.js';

const STORE = 'notes';
let opening: Promise<IDBDatabase> | undefined;

function database(): Promise<IDBDatabase> {
  return (opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open('fairhand-notes', 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: 'id' }).createIndex('when', 'when');
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error!);
  }));
}

async function ask<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const transaction = (await database()).transaction(STORE, mode);
  const request = work(transaction.objectStore(STORE));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(request.result);
    transaction.onerror = transaction.onabort = () => reject(transaction.error!);
  });
}

export async function keep(note: Note): Promise<void> {
  await ask('readwrite', (store) => store.put(note));
}

/** Newest first. */
export async function allNotes(): Promise<Note[]> {
  const notes = await ask<Note[]>('readonly', (store) => store.index('when').getAll());
  return notes.reverse();
}

export async function forget(id: string): Promise<void> {
  await ask('readwrite', (store) => store.delete(id));
}

export async function forgetAll(): Promise<void> {
  await ask('readwrite', (store) => store.clear());
}
