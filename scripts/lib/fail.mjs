// The one way a script gives up: a sentence that says what to do.

/** An expected failure. Its message is one sentence for the person at the keyboard. */
export class Failure extends Error {
  name = 'Failure';
}

/**
 * Runs a script's body; an expected failure is printed as its sentence, anything else with its stack.
 * @param {() => Promise<unknown>} body
 */
export async function main(body) {
  try {
    const major = Number(process.versions.node.split('.')[0]);
    if (major < 20) throw new Failure(`Install Node 20 or newer (this is ${process.version}), then run the command again.`);
    await body();
  } catch (error) {
    console.error(error instanceof Failure ? `\n✗ ${error.message}` : error);
    process.exitCode = 1;
  }
}
