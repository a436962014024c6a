// Child processes: run one in the open, or capture what it prints.
import { spawn, spawnSync } from 'node:child_process';
import { Failure } from './fail.mjs';

/**
 * Runs a command with its output shown. Resolves with its exit status (127 when there is no such command).
 * @param {string} command
 * @param {readonly string[]} args
 * @param {object} [options]
 * @param {string} [options.cwd]
 * @param {Record<string, string>} [options.env] what differs from this process's environment
 * @param {boolean} [options.aside] shows its standard output on standard error, so that a result printed by the
 *   script stands alone
 * @param {(line: string) => void} [options.onLine] hears every line of standard output, which is shown as well
 * @returns {Promise<number>}
 */
export function status(command, args, { cwd, env = {}, aside = false, onLine } = {}) {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['inherit', onLine ? 'pipe' : aside ? 2 : 'inherit', 'inherit'],
  });
  if (onLine && child.stdout) {
    let rest = '';
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (text) => {
      process.stdout.write(text);
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      lines.forEach(onLine);
    });
    child.stdout.on('end', () => rest && onLine(rest));
  }
  return new Promise((resolve) => {
    child.on('error', () => resolve(127));
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/**
 * Runs a command of the set-up with its output shown on standard error, and fails with `advice` unless it succeeds.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string>, advice?: string }} [options]
 */
export async function run(command, args, { advice, ...options } = {}) {
  const code = await status(command, args, { aside: true, ...options });
  if (code !== 0) throw new Failure(advice ?? `\`${command} ${args.join(' ')}\` failed (status ${code}): see its output above.`);
}

/**
 * What a command prints on standard output, trimmed; undefined when it is missing or fails.
 * @param {string} command
 * @param {readonly string[]} args
 * @returns {string | undefined}
 */
export function capture(command, args) {
  const result = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return result.status === 0 ? result.stdout.trim() : undefined;
}

/**
 * The prefix that lets a command change the system: nothing for root, `sudo -n` where that works without a
 * password, undefined where neither does or this is not a Debian.
 * @returns {string[] | undefined}
 */
export function aptPrefix() {
  if (capture('apt-get', ['--version']) === undefined) return undefined;
  if (process.getuid?.() === 0) return [];
  return capture('sudo', ['-n', 'true']) === undefined ? undefined : ['sudo', '-n'];
}

/**
 * Installs Debian packages. Resolves to whether that worked; false when this user may not.
 * @param {readonly string[]} packages
 */
export async function aptInstall(packages) {
  const prefix = aptPrefix();
  if (!prefix) return false;
  const options = { env: { DEBIAN_FRONTEND: 'noninteractive' }, aside: true };
  const [update, install] = [
    [...prefix, 'apt-get', 'update', '-q'],
    [...prefix, 'apt-get', 'install', '-q', '-y', '--no-install-recommends', ...packages],
  ];
  await status(update[0], update.slice(1), options);
  return (await status(install[0], install.slice(1), options)) === 0;
}
