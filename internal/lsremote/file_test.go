package lsremote

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

func TestFile(t *testing.T) {
	root := gittest.Repos(t)
	log := &entries{}
	c := newTestClient(t, Config{Log: log.add})
	for _, url := range []string{root + "/a.git", "file://" + root + "/a.git", root + "/a"} {
		a := mustRead(t, c, url, refs("refs/tags/v1.2.0", "HEAD"))
		want := []Ref{{Name: "HEAD", ID: mainA, Target: "refs/heads/main"}, {Name: "refs/tags/v1.2.0", ID: tag120, Peeled: c3}}
		if !slices.Equal(a.Refs, want) || a.Protocol != 2 {
			t.Errorf("%s: got %+v", url, a)
		}
		if e := log.last(t); e.Requests != 1 || e.BytesIn == 0 || e.RefsSeen != 2 || e.Host != "" || !strings.HasPrefix(e.Path, root) {
			t.Errorf("logged %+v", e)
		}
	}
	only(t, mustRead(t, c, root+"/x.git", refs("refs/heads/main")), Ref{Name: "refs/heads/main", ID: mainX})
	if a := mustRead(t, c, root+"/e.git", Everything()); !a.Empty || a.UnbornHead != "refs/heads/main" {
		t.Errorf("empty: got %+v", a)
	}
	tree := filepath.Join(t.TempDir(), "with a space")
	gittest.Git(t, root, "clone", "-q", "a.git", tree)
	only(t, mustRead(t, c, "file://"+strings.ReplaceAll(tree, " ", "%20"), refs("refs/heads/main")), wantMain)
}

func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newTestClient(t, Config{})
	for path, want := range map[string]struct {
		kind fault.Kind
		text string
	}{
		dir + "/gone": {fault.NotFound, "there is no directory " + dir + "/gone"},
		dir:           {fault.NotGit, dir + " is not a git repository"},
		plain:         {fault.NotGit, "is not a git repository"},
	} {
		_, err := read(t, c, path, refs("HEAD"))
		if fault.KindOf(err) != want.kind {
			t.Errorf("%s: %v", path, err)
			continue
		}
		wantText(t, wantFault(t, err, want.kind), want.text, "HEAD of "+path)
	}
}

// fakeGit puts a program called git first on the PATH. real is replaced by the
// path of the real one.
func fakeGit(t *testing.T, script string) {
	t.Helper()
	realGit, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script = "#!/bin/sh\n" + strings.ReplaceAll(script, "real", realGit) + "\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestFileWithoutGit(t *testing.T) {
	root := gittest.Repos(t)
	t.Setenv("PATH", t.TempDir())
	_, err := read(t, newTestClient(t, Config{}), root+"/a.git", refs("HEAD"))
	wantText(t, wantFault(t, err, fault.Unavailable), "needs git, which is not on the PATH", "Install git")
}

// git's ownership check holds, and the safe.directory values of the user and
// the system are obeyed.
func TestFileOwnership(t *testing.T) {
	root := gittest.Repos(t)
	// git has this variable for tests of its own; ours are kept from it.
	fakeGit(t, `GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec real "$@"`)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "xdg"))
	repo := root + "/a.git"
	_, err := read(t, newTestClient(t, Config{}), repo, refs("HEAD"))
	wantText(t, wantFault(t, err, fault.Forbidden), "another user owns it", "git config --global --add safe.directory "+repo)

	for name, config := range map[string]string{
		"this one":  "[safe]\n\tdirectory = " + repo + "\n",
		"all":       "[safe]\n\tdirectory = \"*\"\n",
		"a reset":   "[safe]\n\tdirectory = *\n\tdirectory = \"\"\n",
		"another":   "[safe]\n\tdirectory = \"/x\\\\y \\\"z\"\n",
		"both ways": "[safe]\n\tdirectory = *\n\tdirectory =\n\tdirectory = " + repo + "\n",
	} {
		if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		want := gitAllows(repo)
		_, err := read(t, newTestClient(t, Config{}), repo, refs("HEAD"))
		if (err == nil) != want {
			t.Errorf("%s: git allows it: %t, we: %v", name, want, err)
		}
	}
}

// gitAllows tells whether real git reads the repository, in the
// environment as it is.
func gitAllows(repo string) bool {
	return exec.Command("git", "ls-remote", repo).Run() == nil
}

// I8: neither the user's configuration nor GIT_ variables change what is read.
// What the repository itself hides stays hidden.
func TestI8FileIgnoresAmbientConfig(t *testing.T) {
	root := gittest.Repos(t)
	repo := root + "/a.git"
	want := mustRead(t, newTestClient(t, Config{}), repo, Everything())
	home := t.TempDir()
	config := "[transfer]\n\thideRefs = refs/tags\n[uploadpack]\n\thideRefs = refs/heads\n[lsrefs]\n\tunborn = ignore\n[safe]\n\tdirectory = *\n[core]\n\trepositoryformatversion = 99\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "transfer.hideRefs")
	t.Setenv("GIT_CONFIG_VALUE_0", "refs/pull")
	t.Setenv("GIT_NAMESPACE", "x")
	t.Setenv("GIT_DIR", root+"/s.git")
	t.Setenv("GIT_PROTOCOL", "version=0")
	t.Setenv("GIT_TRACE", "1")
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	if got := mustRead(t, newTestClient(t, Config{}), repo, Everything()); !slices.Equal(got.Refs, want.Refs) || got.Protocol != 2 {
		t.Errorf("got %+v", got)
	}
	gittest.Git(t, repo, "config", "transfer.hideRefs", "refs/pull")
	a := mustRead(t, newTestClient(t, Config{}), repo, Everything())
	if len(a.Refs) != len(want.Refs)-2 {
		t.Errorf("with refs/pull hidden: got %+v", a.Refs)
	}
}

// The file with safe.directory is gone when the client is.
func TestFileLeavesNothingBehind(t *testing.T) {
	root := gittest.Repos(t)
	home, tmp := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[safe]\n\tdirectory = *\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("TMPDIR", tmp)
	c, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		mustRead(t, c, root+"/a.git", refs("HEAD"))
	}
	if there, _ := filepath.Glob(tmp + "/gitpin-*/config"); len(there) != 1 {
		t.Errorf("while it is open: %v", there)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if there, _ := filepath.Glob(tmp + "/*"); len(there) != 0 {
		t.Errorf("after Close: %v", there)
	}
}

// A git that hangs is killed with everything that it has started.
func TestFileHangs(t *testing.T) {
	root := gittest.Repos(t)
	pids := filepath.Join(t.TempDir(), "pids")
	for name, script := range map[string]string{
		"upload-pack": `if [ "$1" = config ]; then exit 1; fi; sleep 600 & echo $! >` + pids + `; cat; wait`,
		"config":      `sleep 600 & echo $! >` + pids + `; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			fakeGit(t, script)
			log := &entries{}
			_, err := read(t, newTestClient(t, Config{Timeout: 4 * short, Log: log.add}), root+"/a.git", refs("HEAD"))
			wantFault(t, err, fault.Timeout)
			pid, err := os.ReadFile(pids)
			if err != nil {
				t.Fatal(err)
			}
			gone(t, strings.TrimSpace(string(pid)))
		})
	}
	t.Run("interrupt", func(t *testing.T) {
		fakeGit(t, `if [ "$1" = config ]; then exit 1; fi; sleep 600`)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(short, cancel)
		r := mustParse(t, root+"/a.git")
		_, err := newTestClient(t, Config{}).Read(ctx, r, nil, refs("HEAD"))
		wantFault(t, err, fault.Canceled)
	})
}

// gone waits until a process has ended; nobody may be there to collect it.
func gone(t *testing.T, pid string) {
	t.Helper()
	for deadline := time.Now().Add(guard); time.Now().Before(deadline); runtime.Gosched() {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %s is still there", pid)
}

// What a broken git says is bounded, and shown cleaned.
func TestFileStrangeGit(t *testing.T) {
	root := gittest.Repos(t)
	for name, c := range map[string]struct {
		script string
		kind   fault.Kind
		text   string
	}{
		"much to say":   {`head -c 1000000 /dev/zero | tr '\0' x >&2; exit 1`, fault.Protocol, "xxx"},
		"nothing":       {`exit 3`, fault.Protocol, "ended without an answer"},
		"a crash":       {`printf '000eversion 2\n'; exit 3`, fault.Protocol, "ended without an answer"},
		"other words":   {`echo hello world`, fault.NotGit, "hello world"},
		"no permission": {`echo "fatal: '/x': Permission denied" >&2; exit 128`, fault.Forbidden, "cannot be read by this user"},
	} {
		t.Run(name, func(t *testing.T) {
			fakeGit(t, `if [ "$1" = config ]; then exit 1; fi; `+c.script)
			_, err := read(t, newTestClient(t, Config{}), root+"/a.git", refs("HEAD"))
			if fault.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.text) {
				t.Errorf("got %v", err)
			}
			if e := wantFault(t, err, c.kind); len(e.Server) > 400 {
				t.Errorf("%d bytes of its words", len(e.Server))
			}
		})
	}
}
