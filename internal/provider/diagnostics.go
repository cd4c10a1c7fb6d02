package provider

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
	"github.com/gitpin/terraform-provider-gitpin/internal/pinning"
)

// One constructor for each diagnostic, all in the order: what was asked, what
// happened, what to do. None carries an attribute path where the attribute may
// hold a URL: Terraform quotes the source line that a path points at, and a URL
// may hold a secret (invariant I6).

func badProvider(err error) diag.Diagnostic {
	return diag.NewErrorDiagnostic("Invalid provider configuration", err.Error())
}

func badCredentials(text string) diag.Diagnostic {
	return diag.NewErrorDiagnostic("Invalid provider credentials", text)
}

func badSelector(text string) diag.Diagnostic {
	return diag.NewErrorDiagnostic("Invalid selector", text)
}

func badTarget(err error) diag.Diagnostic {
	return diag.NewErrorDiagnostic("Invalid url or selector", err.Error())
}

func wrongSelectorCount(set []string) diag.Diagnostic {
	text := "None of branch, tag, ref and semver is set."
	if len(set) > 1 {
		text = "More than one selector is set: " + strings.Join(set, ", ") + "."
	}
	return badSelector(text + " Set exactly one of branch (\"main\"), tag (\"v1.2.3\"), ref (\"refs/heads/main\" or \"HEAD\") and semver (\"1.x\").")
}

func checkURL(text string) diag.Diagnostics {
	var diags diag.Diagnostics
	if _, err := giturl.Parse(text); err != nil {
		diags.Append(badTarget(err))
	}
	return diags
}

// forgedObservation is also for an observation of which only a part is known: a
// data source's own is known as a whole or not at all. It could not be planned:
// which observation stays is decided by its plumbing, and core compares what was
// planned of a known field with what the apply plans.
func forgedObservation() diag.Diagnostic {
	return diag.NewErrorDiagnostic("The observation was not made by a gitpin data source",
		"The checksum of the observation does not fit its fields, or only some of them are known: it was written or edited by hand, or a part of it was replaced. "+
			"Nothing is recorded, since a pin only ever holds a commit that was read from the remote. "+
			"Hand on the whole object as it is: observation = data.gitpin_ref.NAME.observation.")
}

// summaries are what a person reads first, by kind of failure.
var summaries = map[fault.Kind]string{
	fault.Input:              "Invalid url or selector",
	fault.Credentials:        "The credentials cannot be used",
	fault.CredentialsUnknown: "A provider value is not known yet",
	fault.Authentication:     "The git server refused the login",
	fault.Forbidden:          "The git server denies access",
	fault.NotFound:           "Repository not found",
	fault.RefNotFound:        "Ref not found",
	fault.EmptyRepository:    "The repository is empty",
	fault.NoHead:             "The repository advertises no HEAD",
	fault.HostKeyUnknown:     "The host key is not known",
	fault.HostKeyMismatch:    "The host key does not match",
	fault.HostKeyRevoked:     "The host key is revoked",
	fault.TLS:                "The TLS connection failed",
	fault.Proxy:              "The proxy failed",
	fault.Timeout:            "The git server did not answer in time",
	fault.Canceled:           "Interrupted",
	fault.RateLimited:        "The git server limits the rate of requests",
	fault.Unavailable:        "The git server cannot be reached",
	fault.NotGit:             "This is not a git server",
	fault.Protocol:           "The git server's answer cannot be understood",
	fault.TooLarge:           "The ref advertisement is too large",
	fault.Redirect:           "A redirect was refused",
}

// failed is the error of a reading that failed.
func failed(err error) diag.Diagnostic {
	summary, detail := describe(err)
	return diag.NewErrorDiagnostic(summary, detail)
}

// describe splits an error into a summary and a detail of three paragraphs.
func describe(err error) (summary, detail string) {
	var f *fault.Error
	if !errors.As(err, &f) {
		// The text that a recorded failure has travelled with.
		return "The observation has failed", err.Error()
	}
	var paragraphs []string
	if f.Asked != "" {
		paragraphs = append(paragraphs, "Asked: "+f.Asked+".")
	}
	paragraphs = append(paragraphs, "Happened: "+f.What()+".")
	if f.Advice != "" {
		paragraphs = append(paragraphs, "To do: "+f.Advice)
	}
	summary = summaries[f.Kind]
	if summary == "" {
		summary = "The remote could not be read"
	}
	return summary, strings.Join(paragraphs, "\n\n")
}

// holding warns that a remote could not be read, so that its pins stay. The
// summary is the same for all pins on a host: Terraform folds those into one.
func holding(remote giturl.Remote, err error) diag.Diagnostic {
	_, detail := describe(err)
	return diag.NewWarningDiagnostic("Pins on "+hostOf(remote)+" were not refreshed",
		"The remote could not be read. What is recorded stays.\n\n"+detail)
}

func hostOf(remote giturl.Remote) string {
	if remote.Host == "" {
		return "this machine"
	}
	return remote.Host
}

func goneWarning(what string) diag.Diagnostic {
	return diag.NewWarningDiagnostic(what+" is gone",
		"The remote was read and no longer advertises the pinned ref. The recorded commit stays; the server may one day no longer serve it. "+
			"Restore the ref, or change the selector, or remove the pin.")
}

func movedWarning(what string, pin, now pinning.Seen) diag.Diagnostic {
	return diag.NewWarningDiagnostic(what+" has moved", movedText(pin, now)+
		"The recorded commit stays. Find out who moved the tag. To accept the move, change triggers (once) or set on_tag_moved = \"follow\"; put the tag back to end this.")
}

func movedText(pin, now pinning.Seen) string {
	return fmt.Sprintf("A tag is expected to stay, and this one now names another object.\n\n"+
		"  pinned: object %s, commit %s\n  now:    object %s, commit %s\n\n", pin.Object, pin.Commit, now.Object, now.Commit)
}

// destroyHint ends every policy error: Terraform plans a refresh before a
// destroy too, and must not be locked in by a policy.
const destroyHint = " To destroy nevertheless: terraform destroy -refresh=false."

func refusedMoved(what string, pin, now pinning.Seen) diag.Diagnostic {
	return diag.NewErrorDiagnostic(what+" has moved", movedText(pin, now)+
		"The recorded commit stays. Find out who moved the tag. To accept the move, change triggers (once) or set on_tag_moved = \"follow\"; "+
		"to keep the recorded commit with a warning, set on_tag_moved = \"hold\". "+
		"A failed plan records nothing: terraform apply -refresh-only records the conflict, so that it survives until it is settled."+destroyHint)
}

func refusedMissing(what string) diag.Diagnostic {
	return diag.NewErrorDiagnostic(what+" is gone",
		"The remote was read and no longer advertises the pinned ref, and on_missing is \"error\". The recorded commit stays. "+
			"Restore the ref, or change the selector, or set on_missing = \"hold\"."+destroyHint)
}

func refusedTriggerMissing(what string) diag.Diagnostic {
	return diag.NewErrorDiagnostic("Nothing to re-pin to: "+what+" is gone",
		"The triggers changed, but the remote no longer advertises the ref. The recorded commit stays and the trigger is not used up. "+
			"Restore the ref or change the selector, then plan again."+destroyHint)
}

func refusedTriggerUnread(cause error) diag.Diagnostic {
	detail := "The triggers changed, but there is no reading to re-pin from. The recorded commit stays and the trigger is not used up. " +
		"Plan again when the remote can be read; with -refresh=false the newest observation on record is taken." + destroyHint
	if cause != nil {
		_, why := describe(cause)
		detail += "\n\n" + why
	}
	return diag.NewErrorDiagnostic("The triggers changed while the remote cannot be read", detail)
}

func refusedFollowUnread(what string, cause error) diag.Diagnostic {
	_, why := describe(cause)
	return diag.NewErrorDiagnostic(what+" cannot be followed while the remote cannot be read",
		"This plan sets update = \"follow\", and an earlier refresh has found an update. A plan whose refresh failed moves no pin: the recorded commit stays. "+
			"Plan again when the remote can be read, or keep update = \"hold\" until then."+destroyHint+"\n\n"+why)
}

func refusedStale(what string, age, threshold time.Duration, never bool, cause error) diag.Diagnostic {
	unit := time.Second
	if age < time.Minute {
		unit = time.Millisecond // 1.2s is more than 1s
	}
	detail := fmt.Sprintf("The last successful reading on record is %s old; freshness_threshold allows %s.", age.Round(unit), threshold)
	if never {
		detail = "No successful reading is on record."
	}
	detail += " The recorded commit stays. Restore access to the remote and plan again, or raise freshness_threshold." + destroyHint
	if cause != nil {
		_, why := describe(cause)
		detail += "\n\nThe last error:\n\n" + why
	}
	return diag.NewErrorDiagnostic(what+" is stale", detail)
}

func nothingObserved(cause error) diag.Diagnostic {
	summary, detail := describe(cause)
	return diag.NewErrorDiagnostic(summary, detail+
		"\n\nNothing is pinned: a pin's first commit, and the first after its url or selector changed, must have been read.")
}

// noteText are the warnings of a plan that holds although a person may have
// expected a move.
var noteText = map[pinning.Note][2]string{
	pinning.NoteTriggersRecorded: {"The first triggers of an imported pin are recorded, not obeyed",
		"An import says nothing of the triggers that led to the commit, so the first ones are taken as those. Change them once more to re-pin."},
	pinning.NoteTooYoung: {"No commit is old enough to re-pin to",
		"The triggers changed, but as of the last refresh no newer commit is known to be old enough (a changed min_observed_age counts from the next refresh on). The recorded commit stays and the triggers are recorded. Change them again later."},
	pinning.NoteObservationFailed: {"A pin's observation failed, so the pin stays", ""},
}

func noted(n pinning.Note, cause error) diag.Diagnostic {
	text := noteText[n]
	if n == pinning.NoteObservationFailed && cause != nil {
		_, text[1] = describe(cause)
	}
	return diag.NewWarningDiagnostic(text[0], text[1])
}

// freshReading explains in advance what Terraform will call a bug if the ref
// moves: core plans again while it applies, and compares.
func freshReading() diag.Diagnostic {
	return diag.NewWarningDiagnostic("Self-observing pins are read again during apply",
		"If the ref moves before the apply, the apply of this pin stops with \"Provider produced inconsistent final plan\" and nothing is recorded of it; other changes of the plan are applied. "+
			"Terraform calls that a bug in the provider; it is the guard against a commit that no plan has shown. Plan again then. "+
			"To apply the commit of this very plan whatever happens, use the strict form: observation = data.gitpin_ref.NAME.observation.")
}

func planBroken(what, planned, now string) diag.Diagnostic {
	return diag.NewErrorDiagnostic(what+" moved between plan and apply",
		fmt.Sprintf("The plan showed commit %s, the remote now names %s. Nothing is recorded. Plan again, or use the strict form: observation = data.gitpin_ref.NAME.observation.", planned, now))
}

func sameInUnicode(one, other string) diag.Diagnostic {
	return diag.NewErrorDiagnostic("Two refs have the same name to Terraform",
		fmt.Sprintf("The refs %+q and %+q differ only in their Unicode form, which Terraform does not tell apart: one would silently stand for both. "+
			"Narrow prefixes or pattern so that only one of them is listed, or rename one.", one, other))
}

func notPlanned(what string) diag.Diagnostic {
	return diag.NewErrorDiagnostic("The plan shows no commit",
		"The commit of "+what+" is still unknown during apply, so there is nothing that a plan has shown. Nothing is recorded. "+
			"Plan again; if it happens again, please report it with the configuration.")
}

func skippedRefs(n int) diag.Diagnostic {
	return diag.NewWarningDiagnostic("Some refs cannot be shown",
		fmt.Sprintf("%d of the refs that were asked for have names that are no valid UTF-8. Git allows such names, Terraform cannot hold them: they are left out. Rename them on the server.", n))
}
